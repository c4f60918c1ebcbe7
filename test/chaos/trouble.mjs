// @ts-check
/** What is done to the processes, the server and the way between them, at random. */
import { statSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { handlersOf, signal, wardensOf } from './alive.mjs';
import { MAX_CONNECTIONS } from './arena.mjs';
import { connect } from './inserts.mjs';

/** @typedef {import('./arena.mjs').Arena} Arena */
/** @typedef {import('./processes.mjs').Process} Process */
/** @typedef {import('./random.mjs').Random} Random */
/** @typedef {keyof typeof WEIGHTS} Kind */

/** How often each is done, against the others. */
const WEIGHTS = {
  'drainers killed': 4,
  'drainers terminated': 4,
  'drainers stopped for longer than the lease': 3,
  'handlers killed': 4,
  'handlers terminated': 2,
  'handlers stopped for a while': 2,
  'wardens killed': 1,
  'backends terminated': 4,
  'servers restarted': 1,
  'servers killed': 1,
  'connections cut': 4,
  'connections left half-open': 3,
  'networks away': 1,
  'networks silent': 1,
  'servers filled': 1,
  'local emulators killed': 2,
  'local emulators terminated': 2,
  'local emulators stopped': 1,
  'local handlers killed': 2,
};

const WAIT_FOR_RUN_MS = 5_000;

export class Trouble {
  /** How many of each were hit. @type {Map<string, number>} */
  counts = new Map(Object.keys(WEIGHTS).map((kind) => [kind, 0]));
  /** What comes next, from its end. @type {Kind[]} */
  #deck = [];
  /** What found nothing to hit. @type {Kind[]} */
  #missed = [];
  /** Something is done to the whole server. */
  #serverBusy = false;
  /** What has still to be undone. @type {Set<Promise<void>>} */
  #underWay = new Set();
  /** Half-open connections that still wait. @type {(() => void)[]} */
  #thaws = [];

  /** @param {Arena} arena @param {Random} random */
  constructor(arena, random) {
    this.arena = arena;
    this.random = random;
  }

  /** Makes trouble for so long. @param {{ forMs: number, everyMs: number }} pace */
  async make({ forMs, everyMs }) {
    const until = performance.now() + forMs;
    while (performance.now() < until) {
      const doing = this.#doOne();
      this.#underWay.add(doing);
      doing.finally(() => this.#underWay.delete(doing));
      await delay(everyMs * (0.5 + this.random.next()));
      await this.#nextRun();
    }
  }

  /** Trouble hits nothing where nothing goes on: on a slow machine it waits for a handler to run. */
  async #nextRun() {
    const size = () => sizeOf(this.arena.shared.effects) + sizeOf(this.arena.local.effects);
    const before = size();
    const until = performance.now() + WAIT_FOR_RUN_MS;
    while (size() === before && performance.now() < until) await delay(20);
  }

  /** Undoes what lasts: nothing is stopped, away or silent any more. */
  async end() {
    await Promise.all(this.#underWay);
    for (const thaw of this.#thaws.splice(0)) thaw();
  }

  /** One that finds something to hit, unless there is hardly anything. */
  async #doOne() {
    for (let tries = 0; tries < 5; tries += 1) {
      const kind = this.#draw();
      const hits = await this.#ways[kind]();
      if (hits > 0) {
        this.counts.set(kind, (this.counts.get(kind) ?? 0) + hits);
        return;
      }
      this.#missed.push(kind);
    }
  }

  /** From a shuffled deck, so that a short run has seen every kind too. @returns {Kind} */
  #draw() {
    if (this.#deck.length === 0) {
      const kinds = /** @type {[Kind, number][]} */ (Object.entries(WEIGHTS));
      const cards = kinds.flatMap(([kind, weight]) => Array(weight).fill(kind));
      this.#deck = this.random.shuffled([...this.#missed.splice(0), ...cards]);
    }
    return /** @type {Kind} */ (this.#deck.pop());
  }

  /** Each gives back how many it hit, once it is over. @type {Record<Kind, () => Promise<number>>} */
  #ways = {
    'drainers killed': () => this.#end(this.arena.drainers, 'SIGKILL'),
    'drainers terminated': () => this.#end(this.arena.drainers, 'SIGTERM'),
    'drainers stopped for longer than the lease': () =>
      this.#freeze(this.arena.drainers, this.arena.leaseMs + this.random.between(500, 2_000)),
    'handlers killed': () => this.#signalHandler(this.arena.shared, 'SIGKILL'),
    'handlers terminated': () => this.#signalHandler(this.arena.shared, 'SIGTERM'),
    'handlers stopped for a while': () => this.#stopHandler(),
    'wardens killed': () => this.#killWarden(),
    'backends terminated': () => this.#terminateBackends(),
    'servers restarted': () => this.#restart('stop'),
    'servers killed': () => this.#restart('kill'),
    'connections cut': () => this.#cut(),
    'connections left half-open': () => this.#halfOpen(),
    'networks away': () => this.#networkAway(),
    'networks silent': () => this.#networkSilent(),
    'servers filled': () => this.#fillServer(),
    'local emulators killed': () => this.#end([this.#local], 'SIGKILL'),
    'local emulators terminated': () => this.#end([this.#local], 'SIGTERM'),
    'local emulators stopped': () =>
      this.#freeze([this.#local], this.random.between(1_000, this.arena.leaseMs + 1_000)),
    'local handlers killed': () => this.#signalHandler(this.arena.local, 'SIGKILL'),
  };

  get #local() {
    return this.arena.localEmulator;
  }

  /** @param {readonly Process[]} among @param {'SIGKILL' | 'SIGTERM'} how */
  async #end(among, how) {
    const hit = this.random.pick(among.filter(({ free }) => free));
    hit?.end(how);
    return hit === undefined ? 0 : 1;
  }

  /** @param {readonly Process[]} among @param {number} ms */
  async #freeze(among, ms) {
    const hit = this.random.pick(among.filter(({ free }) => free));
    await hit?.freeze(ms);
    return hit === undefined ? 0 : 1;
  }

  /** @param {{ effects: string }} site @param {NodeJS.Signals} how */
  async #signalHandler(site, how) {
    const hit = this.random.pick(handlersOf(this.arena.root, site));
    return hit !== undefined && signal(hit.pid, how) ? 1 : 0;
  }

  async #stopHandler() {
    const hit = this.random.pick(handlersOf(this.arena.root, this.arena.shared));
    if (hit === undefined || !signal(hit.pid, 'SIGSTOP')) return 0;
    await delay(this.random.between(500, 3_000));
    signal(hit.pid, 'SIGCONT');
    return 1;
  }

  async #killWarden() {
    const hit = this.random.pick(wardensOf(this.arena.root, this.arena.shared));
    return hit !== undefined && signal(hit.pid, 'SIGKILL') ? 1 : 0;
  }

  /** One backend, or all of them. */
  async #terminateBackends() {
    const limit = this.random.chance(0.7) ? 1 : 1_000;
    return this.#onServer(async (client) => {
      const { rows } = await client.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where application_name = 'jobq-dev' limit $1`,
        [limit],
      );
      return rows.length;
    });
  }

  /** @param {'stop' | 'kill'} how */
  async #restart(how) {
    return this.#alone(async () => {
      await this.arena.server[how]();
      await delay(this.random.between(0, 1_500));
      await this.arena.server.start();
      return 1;
    });
  }

  async #cut() {
    const { chosen, hits } = this.#someLinks();
    this.arena.proxy.cut(chosen);
    return hits();
  }

  /** For ever, or until what was held back arrives late. */
  async #halfOpen() {
    const { chosen, hits } = this.#someLinks();
    const thaw = this.arena.proxy.freeze(chosen);
    if (this.random.chance(0.5)) this.#thaws.push(thaw);
    else {
      await delay(this.random.between(200, this.arena.leaseMs));
      thaw();
    }
    return hits();
  }

  async #networkAway() {
    return this.#alone(async () => {
      await this.arena.proxy.goAway();
      await delay(this.random.between(200, 2_000));
      await this.arena.proxy.comeBack();
      return 1;
    });
  }

  async #networkSilent() {
    return this.#alone(async () => {
      this.arena.proxy.freezeNewcomers(true);
      const thaw = this.arena.proxy.freeze();
      await delay(this.random.between(200, 2_000));
      this.arena.proxy.freezeNewcomers(false);
      thaw();
      return 1;
    });
  }

  /** Takes every connection that the server has. */
  async #fillServer() {
    return this.#alone(async () => {
      const taken = await Promise.allSettled(
        Array.from({ length: MAX_CONNECTIONS }, () => connect(this.arena.databaseUrl)),
      );
      await delay(this.random.between(500, 1_500));
      const clients = taken.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
      await Promise.allSettled(clients.map((client) => client.end()));
      return 1;
    });
  }

  /** Chooses among connections, and counts how many it chose. */
  #someLinks() {
    const share = this.random.next();
    let count = 0;
    const chosen = () => {
      const hit = this.random.chance(share);
      if (hit) count += 1;
      return hit;
    };
    return { chosen, hits: () => count };
  }

  /** One at a time: the queue has to get somewhere in between. @param {() => Promise<number>} work */
  async #alone(work) {
    if (this.#serverBusy) return 0;
    this.#serverBusy = true;
    try {
      return await work();
    } finally {
      this.#serverBusy = false;
    }
  }

  /** @param {(client: import('pg').Client) => Promise<number>} work */
  async #onServer(work) {
    try {
      const client = await connect(this.arena.databaseUrl);
      try {
        return await work(client);
      } finally {
        await client.end();
      }
    } catch {
      return 0;
    }
  }
}

/** @param {string} file */
function sizeOf(file) {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}
