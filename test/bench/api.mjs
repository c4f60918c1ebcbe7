/** Many jobs in one request to the HTTP API, against the rows in one statement. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { directPglite } from './direct.mjs';
import { startJobq } from './life.mjs';
import { compare, report, timed } from './measure.mjs';

const JOBS = 1_000;
const ROUNDS = 15;
/** As small as a job is that names what it is about. */
const PAYLOAD = { order: 4711, to: 'a@example.test' };

export async function api() {
  const dir = mkdtempSync(path.join(tmpdir(), 'jobq-bench-'));
  // Nothing is to run meanwhile.
  const cron = ['--cron', '0 0 1 1 *'];
  const { child, seen, ended } = startJobq(['--memory', '--port', '0', ...cron], dir);
  const bare = await directPglite();
  try {
    const [, url] = await seen(/ready at (http:\S+)/);
    const body = JSON.stringify(
      Array.from({ length: JOBS }, () => ({ kind: 'work', payload: PAYLOAD })),
    );
    const request = { method: 'POST', headers: { 'content-type': 'application/json' }, body };
    const ours = () =>
      timed(async () => {
        const response = await fetch(`${url}/jobs`, request);
        const { ids } = await response.json();
        if (ids?.length !== JOBS) throw new Error(`status ${response.status}`);
      });
    const places = Array.from(
      { length: JOBS },
      (_, index) => `($${2 * index + 1}, $${2 * index + 2})`,
    );
    const sql = `insert into jobs (kind, payload) values ${places.join(', ')}`;
    const values = Array.from({ length: JOBS }, () => ['work', JSON.stringify(PAYLOAD)]).flat();
    const direct = () => timed(() => bare.query(sql, values));
    await ours();
    await direct();
    report(
      `${JOBS} jobs in a request to the API, speed against one insert of as many rows`,
      await compare({ rounds: ROUNDS, ours, bare: direct }),
      { limit: 0.7, atLeast: true },
    );
  } finally {
    child.kill('SIGTERM');
    await ended;
    await bare.close();
    rmSync(dir, { recursive: true, force: true });
  }
}
