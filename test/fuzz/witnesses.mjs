// @ts-check
/** Clients that do nothing wrong, and note what they were promised. */

import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';

/**
 * What a well-behaved client may meet, and begins anew after: the engine was opened again, or it
 * found no place. On a machine that is busy with other things its own transaction may idle, and its
 * statements run, for too long.
 */
const RETRYABLE = new Set([
  '25P03',
  '57014',
  '57P02',
  '57P01',
  '57P03',
  '53300',
  '40001',
  '08006',
  'ECONNRESET',
  'EPIPE',
]);
/** Statements that have to be stopped, and openings of the engine, in turn and on a busy machine. */
const ANSWER_WITHIN_MS = 180_000;
const PAUSE_MS = 100;

export class Witness {
  /** Acknowledged. @type {Set<number>} */
  promised = new Set();
  /** Of these nobody can say: the answer was lost. @type {Set<number>} */
  unsure = new Set();
  /** @type {string[]} */
  faults = [];
  slowestMs = 0;

  /** @param {string} name @param {(n: number) => Promise<void>} insert */
  constructor(name, insert) {
    this.name = name;
    this.insert = insert;
  }

  /** Goes on until `signal` aborts. @param {AbortSignal} signal */
  async run(signal) {
    for (let n = 1; !signal.aborted; n += 1) {
      const started = performance.now();
      const late = setTimeout(
        () => this.faults.push(`${n}: no answer within ${ANSWER_WITHIN_MS} ms`),
        ANSWER_WITHIN_MS,
      );
      try {
        await this.insert(n);
        this.promised.add(n);
      } catch (error) {
        this.unsure.add(n);
        const { code, message } = /** @type {Error & { code?: string }} */ (error);
        if (!RETRYABLE.has(code ?? '')) this.faults.push(`${n}: ${code} ${message}`);
      } finally {
        clearTimeout(late);
      }
      this.slowestMs = Math.max(this.slowestMs, performance.now() - started);
      await delay(PAUSE_MS);
    }
  }
}

/** A row and a job in one transaction. @param {string} url */
export function sqlWitness(url) {
  /** @type {pg.Client | undefined} */
  let client;
  const witness = new Witness('sql', async (n) => {
    try {
      client ??= await connect(url);
      await client.query('begin');
      await client.query({
        name: 'order',
        text: 'insert into orders (n) values ($1)',
        values: [n],
      });
      await client.query(JOB, [n]);
      await client.query('commit');
    } catch (error) {
      void client?.end().catch(() => {});
      client = undefined;
      throw withCode(error);
    }
  });
  return { witness, end: async () => client?.end() };
}

const JOB = `insert into jobs (kind, payload) values ('sql', jsonb_build_object('n', $1::int))`;

/** @param {string} url */
export async function connect(url) {
  const client = new pg.Client({ connectionString: url, application_name: 'witness' });
  // Met at the next query.
  client.on('error', () => {});
  await client.connect();
  return client;
}

/** `pg` gives none where the connection ends under a query. @param {unknown} error */
function withCode(error) {
  const found = /** @type {Error & { code?: string }} */ (error);
  if (/Connection terminated|not queryable/.test(found.message)) found.code ??= '08006';
  return found;
}

/** @param {string} url */
export function httpWitness(url) {
  return new Witness('http', async (n) => {
    const response = await fetch(`${url}/jobs`, {
      method: 'POST',
      body: JSON.stringify({ kind: 'http', payload: { n } }),
    });
    const text = await response.text();
    if (response.status !== 201) throw new Error(`POST /jobs: ${response.status} ${text}`);
  });
}
