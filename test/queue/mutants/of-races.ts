/** Noticed by races of drainers on Postgres. */
import type { Mutant } from './mutant.js';

export const OF_RACES: Mutant[] = [
  {
    what: 'a claim takes more than its limit where a plan runs the select once a row',
    file: 'queue/claim.js',
    from: '  from due\n  where jobs.id = due.id',
    to: `  where jobs.id in (
    select id from jobs
    where status = 'pending' and run_after <= $1::timestamptz and attempts < max_attempts
    order by run_after, id limit $2::int for update skip locked)`,
    seenBy: { race: 'a claim takes its limit at most' },
  },
  {
    what: 'a job has one claim id for ever, and no constraint stops it',
    file: 'queue/claim.js',
    from: 'gen_random_uuid()',
    to: 'md5(jobs.id::text)::uuid',
    without: {
      table: 'job_attempts',
      name: 'job_attempts_claim_once',
      definition: 'unique (claim_id)',
    },
    seenBy: { race: 'a claim has one owner' },
  },
  {
    what: 'jobs are deleted without a word',
    file: 'queue/prune.js',
    from: 'gone.push(...rows.map(({ id }) => id));',
    to: '',
    seenBy: { race: 'an acknowledged job is there until it is pruned' },
  },
  {
    what: 'a late finisher is told that the job was its own',
    file: 'queue/settle.js',
    from: '{ owned: false }',
    to: "{ owned: true, status: 'pending' }",
    seenBy: { race: 'the record of an attempt is what its drainer was told' },
  },
  {
    what: 'a verdict that is repeated is called superseded',
    file: 'queue/settle.js',
    from: ' ?? (await settledBefore(db, verdict.claimId))',
    to: '',
    seenBy: { race: 'saying it again is answered as before' },
  },
  {
    what: 'a pending job without attempts left stays for ever',
    file: 'queue/reap.js',
    from: "where status = 'pending' and attempts >= max_attempts for update",
    to: 'where false for update',
    seenBy: { race: 'every job comes to an end' },
  },
];
