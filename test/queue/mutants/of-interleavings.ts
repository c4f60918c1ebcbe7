/** Noticed by forced interleavings on Postgres. */
import type { Mutant } from './mutant.js';

export const OF_INTERLEAVINGS: Mutant[] = [
  {
    what: 'the reaper changes what it saw, and not what is there (river 1302)',
    file: 'queue/reap.js',
    from: "interval '1 millisecond'\n  for update skip locked",
    to: "interval '1 millisecond'",
    seenBy: {
      scenes: [
        'a job finishes between the reaper’s look and its update (river 1302)',
        'a job fails between the reaper’s look and its update',
        'a job fails and is claimed again between the reaper’s look and its update',
        'a heartbeat comes between the reaper’s look and its update',
      ],
    },
  },
  {
    what: 'the reaper waits for whoever has the job',
    file: 'queue/reap.js',
    from: "interval '1 millisecond'\n  for update skip locked",
    to: "interval '1 millisecond'\n  for update",
    seenBy: { scenes: ['two reapers'] },
  },
  {
    what: 'the reaper ends the pending job that it saw, and not the one that is there',
    file: 'queue/reap.js',
    from: 'attempts >= max_attempts for update skip locked',
    to: 'attempts >= max_attempts',
    seenBy: {
      scenes: ['a pending job gets more attempts between the reaper’s look and its update'],
    },
  },
  {
    what: 'the reaper puts attempts on record before it takes their jobs',
    file: 'queue/reap.js',
    from: 'const { rows } = await db.query(SQL',
    to: `await db.query("update job_attempts set outcome = 'lost', finished_at = $1", [now]);
      const { rows } = await db.query(SQL`,
    seenBy: { scenes: ['a reaper whose machine dies has reaped nothing (procrastinate 1408)'] },
  },
  {
    what: 'a claim takes what it saw, and not what is there',
    file: 'queue/claim.js',
    from: 'limit $2::int\n  for update skip locked',
    to: 'limit $2::int',
    seenBy: {
      scenes: [
        'a job is put off between a claim’s look and its update',
        'a job loses its attempts between a claim’s look and its update',
        'a job is cancelled between a claim’s look and its update',
      ],
    },
  },
  {
    what: 'a claim waits for whoever has the job',
    file: 'queue/claim.js',
    from: 'for update skip locked',
    to: 'for update',
    seenBy: { scenes: ['two claims want the same rows'] },
  },
  {
    what: 'a claim puts attempts on record before it takes their jobs',
    file: 'queue/claim.js',
    from: 'const { rows } = await db.query(CLAIM_SQL',
    to: `await db.query(
        \`insert into job_attempts (job_id, attempt, claim_id, started_at)
         select id, attempts + 1, gen_random_uuid(), $1 from jobs\`, [now]);
      const { rows } = await db.query(CLAIM_SQL`,
    seenBy: {
      scenes: ['a claimer whose machine dies before its commit has claimed nothing'],
    },
  },
  {
    what: 'a settle puts the attempt on record before it settles the job',
    file: 'queue/settle.js',
    from: 'const { rows } = await db.query(SQL',
    to: `await db.query(
        \`update job_attempts set outcome = 'timeout', finished_at = started_at, duration_ms = 0
         where claim_id = $1\`, [verdict.claimId]);
      const { rows } = await db.query(SQL`,
    seenBy: { scenes: ['a settle that dies before its commit is repeated'] },
  },
  {
    what: 'whoever was late settles',
    file: 'queue/settle.js',
    from: " and status = 'running' and claim_id = $2::uuid\n  returning",
    to: '\n  returning',
    seenBy: {
      scenes: [
        'a job is reaped between its finish and its settle: it succeeded (solid_queue 589, 761)',
        'a job is reaped between its finish and its settle: it failed (dbos-transact-ts 1323)',
        'a settle comes while a cancel has the job',
        'a settle is repeated while the first one, whose connection broke, still runs',
      ],
    },
  },
  {
    what: 'a late finisher’s error hides why the claim was taken away',
    file: 'queue/settle.js',
    from: 'coalesce(error, $5)',
    to: '$5',
    seenBy: { scenes: ['the next claim comes while the late finisher waits'] },
  },
  {
    what: 'a late finisher is told that the job was its own, and the job is pruned',
    file: 'queue/settle.js',
    from: '{ owned: false }',
    to: "{ owned: true, status: 'pending' }",
    seenBy: { scenes: ['a late finisher comes while prune deletes the job'] },
  },
  {
    what: 'whoever was late releases',
    file: 'queue/release.js',
    from: " and status = 'running' and claim_id = $2::uuid\n  returning",
    to: '\n  returning',
    seenBy: { scenes: ['a release comes while the reaper has taken the job'] },
  },
  {
    what: 'whoever was late renews a lease',
    file: 'queue/heartbeat.js',
    from: " and jobs.status = 'running' and jobs.claim_id = held.claim_id",
    to: '',
    seenBy: {
      scenes: [
        'a heartbeat comes while the reaper has taken the job',
        'a heartbeat comes while a cancel has the job',
      ],
    },
  },
  {
    what: 'a cancel does not know the claim that it waited for',
    file: 'queue/cancel.js',
    from: '\n    and claim_id is not distinct from $3::uuid',
    to: '',
    seenBy: {
      scenes: [
        'a cancel comes while a claim has the job',
        'a cancel comes while a settle that failed has the job',
      ],
    },
  },
  {
    what: 'a cancel ends what is over',
    file: 'queue/cancel.js',
    from: "status in ('pending', 'running')\n    and claim_id is not distinct from $3::uuid",
    to: 'true',
    seenBy: { scenes: ['a cancel comes while a settle that succeeds has the job'] },
  },
  {
    what: 'an edit changes what its handler has been given, or is over',
    file: 'queue/edit.js',
    from: "where id = $1::bigint and status = 'pending'",
    to: 'where id = $1::bigint',
    seenBy: {
      scenes: [
        'an edit comes while a claim has the job',
        'an edit comes while a cancel has the job',
      ],
    },
  },
  {
    what: 'an edited copy of a pruned job is refused by a foreign key',
    file: 'queue/edit.js',
    from: "error.detail.constraint === 'jobs_parent_id_fkey'",
    to: 'false',
    seenBy: { scenes: ['an edit comes while prune deletes the job'] },
  },
  {
    what: 'a retry revives what has been revived',
    file: 'queue/retry.js',
    from: "where id = $2::bigint and status = 'dead'",
    to: 'where id = $2::bigint',
    seenBy: { scenes: ['a second retry comes while the first one has the job'] },
  },
  {
    what: 'a retry of all revives what is not dead',
    file: 'queue/retry.js',
    from: "where status = 'dead' and ($2::text",
    to: 'where ($2::text',
    seenBy: { scenes: ['a retried job is claimed while a retry of all waits for it'] },
  },
  {
    what: 'prune waits for whoever has the job',
    file: 'queue/prune.js',
    from: 'for update skip locked',
    to: 'for update',
    seenBy: { scenes: ['two prunes want the same rows'] },
  },
];
