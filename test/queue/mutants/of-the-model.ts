/** Noticed by sequences on PGlite that are held against the model. */
import type { Mutant } from './mutant.js';

export const OF_THE_MODEL: Mutant[] = [
  {
    what: 'claims go by id alone',
    file: 'queue/claim.js',
    from: 'order by run_after, id\n  limit',
    to: 'order by id\n  limit',
    seenBy: { model: 'what claim answers' },
  },
  {
    what: 'claims are returned in any order',
    file: 'queue/claim.js',
    from: 'from claimed order by run_after, id',
    to: 'from claimed order by id desc',
    seenBy: { model: 'what claim answers' },
  },
  {
    what: 'a failed job is tried again at once',
    file: 'queue/settle.js',
    from: 'else $4::timestamptz end',
    to: 'else coalesce($6::timestamptz, $4::timestamptz) end',
    seenBy: { model: 'what settle answers' },
  },
  {
    what: 'a heartbeat renews the lease of whoever has the job',
    file: 'queue/heartbeat.js',
    from: ' and jobs.claim_id = held.claim_id',
    to: '',
    seenBy: { model: 'what heartbeat answers' },
  },
  {
    what: 'a reaped job keeps its place in the line',
    file: 'queue/reap.js',
    from: 'then run_after else $1 end',
    to: 'then run_after else run_after end',
    seenBy: { model: 'what reap answers' },
  },
  {
    what: 'prune goes by when a job was due (oban 1145)',
    file: 'queue/prune.js',
    from: 'finished_at < $1::timestamptz',
    to: 'run_after < $1::timestamptz',
    seenBy: { model: 'what prune answers' },
  },
  {
    what: 'prune keeps one too many',
    file: 'queue/prune.js',
    from: '(finished_at, id) <= (',
    to: '(finished_at, id) < (',
    seenBy: { model: 'what prune answers' },
  },
  {
    what: 'jobs are inserted in another order',
    file: 'queue/enqueue.js',
    from: 'order by place',
    to: 'order by place desc',
    seenBy: { model: 'the rows of jobs' },
  },
  {
    what: 'an edited copy does not name its parent',
    file: 'queue/edit.js',
    from: 'parentId: id,',
    to: '',
    seenBy: { model: 'what edit answers' },
  },
  {
    what: 'a cancel does not say whose attempt is to be killed',
    file: 'queue/cancel.js',
    from: 'claimId: claim_id ?? undefined',
    to: 'claimId: undefined',
    seenBy: { model: 'what cancel answers' },
  },
  {
    what: 'a cancelled attempt has no reason',
    file: 'queue/cancel.js',
    from: "set outcome = 'lost', finished_at = $2, error = 'cancelled by hand'",
    to: "set outcome = 'lost', finished_at = $2",
    seenBy: { model: 'the rows of job_attempts' },
  },
];
