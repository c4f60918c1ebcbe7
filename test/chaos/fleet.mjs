// @ts-check
/**
 * Several drainers share one burst on one Postgres: each job is run exactly once, and how fast they
 * are together, against one alone.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import path from 'node:path';
import { PostgresServer } from '../support/postgres-server.mjs';
import { createDatabase } from './arena.mjs';
import { connect } from './inserts.mjs';

/** The largest fleet has the whole burst; the smaller ones a part of it, for their speed. */
const FLEETS = [
  { drainers: 1, share: 0.25 },
  { drainers: 2, share: 0.25 },
  { drainers: 4, share: 1 },
];

/**
 * @param {{ cli: string, jobs: number }} options
 * @returns {Promise<number>} how many jobs were not run exactly once
 */
export async function fleet({ cli, jobs }) {
  const root = mkdtempSync(path.join(tmpdir(), 'jobq-fleet-'));
  const server = await PostgresServer.start();
  let wrong = 0;
  /** Of one drainer alone. @type {number | undefined} */
  let alone;
  try {
    for (const { drainers, share } of FLEETS) {
      const burst = Math.ceil(jobs * share);
      const cwd = path.join(root, `${drainers}`);
      const databaseUrl = await createDatabase(server.url, `fleet_${drainers}`);
      const before = cpuTimes();
      const { seconds, doubled } = await drainBurst({ cli, cwd, databaseUrl, drainers, burst });
      const after = cpuTimes();
      const busy = 1 - (after.idle - before.idle) / (after.all - before.all);
      const perSecond = burst / seconds;
      alone ??= perSecond;
      console.log(
        `${drainers} ${drainers === 1 ? 'drainer ' : 'drainers'}  ${burst} jobs in ${seconds.toFixed(1)} s: ` +
          `${perSecond.toFixed(0)} jobs a second, ${(perSecond / alone).toFixed(2)} × one; ` +
          `cores ${(busy * 100).toFixed(0)} % busy; ${doubled} not run exactly once`,
      );
      wrong += doubled;
    }
    return wrong;
  } finally {
    await server.close();
    rmSync(root, { recursive: true, force: true });
  }
}

/** Of all cores together, since they were started, in milliseconds. */
function cpuTimes() {
  const sum = { idle: 0, all: 0 };
  for (const { times } of cpus()) {
    sum.idle += times.idle;
    sum.all += times.user + times.nice + times.sys + times.idle + times.irq;
  }
  return sum;
}

/**
 * @param {{ cli: string, cwd: string, databaseUrl: string, drainers: number, burst: number }} options
 * @returns {Promise<{ seconds: number, doubled: number }>} from the first claim to the last settle
 */
async function drainBurst({ cli, cwd, databaseUrl, drainers, burst }) {
  const effects = path.join(cwd, 'effects');
  mkdirSync(path.join(cwd, 'handlers'), { recursive: true });
  writeFileSync(effects, '');
  writeFileSync(path.join(cwd, 'handlers/trivial.sh'), 'echo "$JOBQ_JOB_ID" >> "$FLEET_EFFECTS"\n');
  writeFileSync(
    path.join(cwd, 'jobq.config.json'),
    // One attempt at a time, so that what more drainers bring is to be seen.
    JSON.stringify({ databaseUrl, concurrency: 1, env: { FLEET_EFFECTS: effects } }),
  );
  await jobq(cli, cwd, 'migrate');
  const client = await connect(databaseUrl);
  try {
    await client.query(
      `insert into jobs (kind, payload)
       select 'trivial', jsonb_build_object('n', n) from generate_series(1, $1::int) as n`,
      [burst],
    );
    await Promise.all(Array.from({ length: drainers }, () => jobq(cli, cwd, 'drain', '--quiet')));
    const { rows } = await client.query(`
      select extract(epoch from max(finished_at) - min(started_at))::float8 as seconds,
        count(distinct job_id) filter (where outcome = 'exited' and exit_code = 0)::int as done,
        count(*)::int as attempts
      from job_attempts`);
    const { seconds, done, attempts } = rows[0];
    const runs = countEach(readFileSync(effects, 'utf8').split('\n').filter(Boolean));
    const once = [...runs.values()].filter((count) => count === 1).length;
    return { seconds, doubled: Math.max(burst - once, burst - done, attempts - burst) };
  } finally {
    await client.end();
  }
}

/** @param {string} cli @param {string} cwd @param {readonly string[]} args */
async function jobq(cli, cwd, ...args) {
  const child = spawn(process.execPath, [cli, ...args], {
    cwd,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [status] = await once(child, 'exit');
  if (status !== 0) throw new Error(`jobq-dev ${args.join(' ')} ended with ${status}`);
}

/** @param {readonly string[]} items */
function countEach(items) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const item of items) counts.set(item, (counts.get(item) ?? 0) + 1);
  return counts;
}
