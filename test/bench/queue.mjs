/** The queue's statements, against the two bare ones, and with a million done rows. */
import { migrate } from '#src/db/migrate.js';
import { openPglite } from '#src/db/pglite.js';
import { TEMPLATE_TAR } from '#src/db/template.js';
import { claim } from '#src/queue/claim.js';
import { settle } from '#src/queue/settle.js';
import { directPglite } from './direct.mjs';
import { compare, report, timed } from './measure.mjs';

const NOW = new Date('2026-05-01T12:00:00Z');
const INSERT = `insert into jobs (kind, payload, run_after)
  select 'work', '{"a": 1}', '2026-05-01T00:00:00Z' from generate_series(1, 400)`;
const EMPTY = 'truncate jobs, job_attempts restart identity';

async function oursRound(db) {
  await db.exec(EMPTY);
  await db.exec(INSERT);
  return timed(async () => {
    for (let round = 0; round < 20; round += 1) {
      const claims = await claim(db, {
        limit: 20,
        now: NOW,
        provider: 'process',
        isolation: 'none',
      });
      await Promise.all(claims.map((claimed) => settle(db, verdict(claimed), { now: NOW })));
    }
  });
}

function verdict({ id, claim_id }) {
  const nothing = { text: '', totalBytes: 0 };
  return {
    id,
    claimId: claim_id,
    ok: true,
    outcome: 'exited',
    exitCode: 0,
    error: null,
    durationMs: 1,
    stdout: nothing,
    stderr: nothing,
    retryAt: NOW,
  };
}

/** The statements as a hand-written loop has them: no record of attempts, no worker. */
async function bareRound(db) {
  await db.exec(EMPTY);
  await db.exec(INSERT);
  return timed(async () => {
    for (let round = 0; round < 20; round += 1) {
      const { rows } = await db.query(
        `with due as materialized (
           select id from jobs where status = 'pending' and run_after <= $1
           order by run_after, id limit 20 for update skip locked
         )
         update jobs set status = 'running', attempts = attempts + 1, locked_at = $1,
           claim_id = gen_random_uuid()
         from due where jobs.id = due.id returning jobs.id, kind, payload, claim_id`,
        [NOW],
      );
      for (const { id, claim_id } of rows) {
        await db.query(
          `update jobs set status = 'done', finished_at = $3, locked_at = null, claim_id = null
           where id = $1 and status = 'running' and claim_id = $2`,
          [id, claim_id, NOW],
        );
      }
    }
  });
}

export async function queue() {
  const db = await openPglite({ dataDir: 'memory', templatePath: TEMPLATE_TAR });
  await migrate(db);
  const bare = await directPglite();
  try {
    await oursRound(db);
    await bareRound(bare);
    report(
      'claim 20 + settle 20, speed against the two bare statements',
      await compare({ rounds: 9, ours: () => oursRound(db), bare: () => bareRound(bare) }),
      { limit: 0.7, atLeast: true },
    );
  } finally {
    await bare.close();
  }
  const claimRound = async (other) => {
    await other.exec("delete from job_attempts; delete from jobs where status <> 'done'");
    await other.exec(INSERT);
    for (const table of ['jobs', 'job_attempts']) await other.exec(`vacuum analyze ${table}`);
    return timed(async () => {
      for (let round = 0; round < 20; round += 1) {
        await claim(other, { limit: 20, now: NOW, provider: 'process', isolation: 'none' });
      }
    });
  };
  const full = await openPglite({ dataDir: 'memory', templatePath: TEMPLATE_TAR });
  try {
    await migrate(full);
    await full.exec(`insert into jobs (kind, payload, status, attempts, finished_at)
      select 'work', '{"a": 1}', 'done', 1, '2026-04-01' from generate_series(1, 1000000)`);
    report(
      'claim with 1,000,000 done rows against none',
      await compare({ rounds: 7, ours: () => claimRound(full), bare: () => claimRound(db) }),
      { limit: 1.3 },
    );
  } finally {
    await full.close();
    await db.close();
  }
}
