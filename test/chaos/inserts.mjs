// @ts-check
/** Jobs come in while everything else happens; what was acknowledged is noted. */
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { KINDS } from './handlers.mjs';

/** @typedef {import('../support/random.mjs').Random} Random */

const ANSWER_WITHIN_MS = 5_000;
const AGAIN_MS = 200;

/** What was inserted, as far as is known: each job's payload has a key of its own. */
export class Ledger {
  /** By key: the id that was acknowledged. @type {Map<string, string>} */
  acknowledged = new Map();
  /** No answer came: it may be there or not. @type {Set<string>} */
  unanswered = new Set();
  #keys = 0;

  /** @param {Random} random @param {number} mostAttempts */
  newJob(random, mostAttempts) {
    this.#keys += 1;
    const kind = random.weighted(KINDS);
    const few = kind === 'hopeless' || random.chance(0.2);
    return {
      key: `k${this.#keys}`,
      kind,
      maxAttempts: few ? Math.min(3, mostAttempts) : mostAttempts,
    };
  }
}

/**
 * `everyMs`: how often a few jobs are inserted. `mostWaiting`: no more while so many wait.
 * @typedef {{ everyMs: number, mostWaiting: number }} Pace
 */

/** An app that inserts: a few jobs at a time, until it is stopped. */
class Inserter {
  ledger = new Ledger();
  #stopping = new AbortController();
  #over = Promise.resolve();

  /**
   * @param {Random} random
   * @param {Pace & { mostAttempts: number }} pace
   */
  constructor(random, { everyMs, mostWaiting, mostAttempts }) {
    this.random = random;
    this.everyMs = everyMs;
    this.mostWaiting = mostWaiting;
    this.mostAttempts = mostAttempts;
  }

  start() {
    this.#over = this.#insertAll();
  }

  async stop() {
    this.#stopping.abort();
    await this.#over;
  }

  async #insertAll() {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      await delay(this.everyMs, undefined, { signal }).catch(() => {});
      const waiting = await this.waiting().catch(() => this.mostWaiting);
      if (waiting >= this.mostWaiting) continue;
      const jobs = Array.from({ length: this.random.between(1, 4) }, () =>
        this.ledger.newJob(this.random, this.mostAttempts),
      );
      for (const { key } of jobs) this.ledger.unanswered.add(key);
      try {
        const ids = await this.insert(jobs);
        jobs.forEach(({ key }, index) => {
          this.ledger.unanswered.delete(key);
          this.ledger.acknowledged.set(key, ids[index] ?? 'none');
        });
      } catch {
        await delay(AGAIN_MS);
      }
    }
    await this.close();
  }

  /**
   * @param {readonly { key: string, kind: string, maxAttempts: number }[]} _jobs
   * @returns {Promise<string[]>} their ids, in order
   */
  async insert(_jobs) {
    throw new Error('each way to insert has its own');
  }

  /** @returns {Promise<number>} how many jobs wait to be claimed */
  async waiting() {
    return 0;
  }

  async close() {}
}

/** By SQL, over a connection of its own that breaks with the server. */
export class SqlInserter extends Inserter {
  /** @type {pg.Client | undefined} */
  #client;

  /** @param {Random} random @param {Pace & { databaseUrl: string }} options */
  constructor(random, options) {
    super(random, { ...options, mostAttempts: 25 });
    this.databaseUrl = options.databaseUrl;
  }

  /** @override @type {Inserter['insert']} */
  insert(jobs) {
    // As an app has it: what is acknowledged is the COMMIT.
    const sql = 'insert into jobs (kind, payload, max_attempts) values ($1, $2, $3) returning id';
    return this.#ask(async (client) => {
      const ids = [];
      await client.query('begin');
      for (const { kind, key, maxAttempts } of jobs) {
        ids.push((await client.query(sql, [kind, { key }, maxAttempts])).rows[0].id);
      }
      await client.query('commit');
      return ids;
    });
  }

  /** @override */
  waiting() {
    const sql = `select id from jobs where status = 'pending' limit 100`;
    return this.#ask(async (client) => (await client.query(sql)).rows.length);
  }

  /** @override */
  async close() {
    this.#client?.end().catch(() => {});
    this.#client = undefined;
  }

  /** @template T @param {(client: pg.Client) => Promise<T>} work */
  async #ask(work) {
    try {
      this.#client ??= await connect(this.databaseUrl);
      return await work(this.#client);
    } catch (error) {
      await this.close();
      throw error;
    }
  }
}

/** @param {string} databaseUrl */
export async function connect(databaseUrl) {
  const client = new pg.Client({
    connectionString: databaseUrl,
    application_name: 'chaos',
    connectionTimeoutMillis: ANSWER_WITHIN_MS,
    query_timeout: ANSWER_WITHIN_MS,
  });
  client.on('error', () => {}); // the next statement fails
  await client.connect();
  return client;
}

/** Over HTTP, at an emulator that comes and goes. */
export class HttpInserter extends Inserter {
  /**
   * @param {Random} random
   * @param {Pace & { mostAttempts: number, url: () => string | undefined }} options few attempts:
   *   nobody makes retries due here, and each is twice as far away as the one before
   */
  constructor(random, options) {
    super(random, options);
    this.url = options.url;
  }

  /** @override @type {Inserter['insert']} */
  async insert(jobs) {
    const body = jobs.map(({ kind, key, maxAttempts }) => ({
      kind,
      payload: { key },
      max_attempts: maxAttempts,
    }));
    return (await ask(this.url(), 'POST', '/jobs', body)).ids;
  }

  /** @override */
  async waiting() {
    return (await ask(this.url(), 'GET', '/stats')).counts.pending;
  }
}

/**
 * @param {string | undefined} url
 * @param {string} method
 * @param {string} route
 * @param {unknown} [body]
 */
export async function ask(url, method, route, body) {
  if (url === undefined) throw new Error('no emulator is ready');
  const response = await fetch(url + route, {
    method,
    signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
    headers: { 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${method} ${route}: ${response.status}`);
  return response.json();
}
