// @ts-check
/** What is done to the server, and to the way to it. */
import { setTimeout as delay } from 'node:timers/promises';
import { MAX_CONNECTIONS } from './arena.mjs';
import { connect } from './inserts.mjs';

export class ServerTroubles {
  /** Something is done to the whole server. */
  #busy = false;
  /** Half-open connections that stay so. @type {(() => void)[]} */
  #thaws = [];

  /** @param {import('./arena.mjs').Arena} arena @param {import('../support/random.mjs').Random} random */
  constructor(arena, random) {
    this.arena = arena;
    this.random = random;
  }

  /** @returns {Record<string, import('./trouble.mjs').Way>} */
  get ways() {
    return {
      'backends terminated': { weight: 4, hit: () => this.#terminateBackends() },
      'servers restarted': { weight: 1, hit: () => this.#alone(() => this.#restart('stop')) },
      'servers killed': { weight: 1, hit: () => this.#alone(() => this.#restart('kill')) },
      'servers filled': { weight: 1, hit: () => this.#alone(() => this.#fill()) },
      'connections cut': { weight: 4, hit: async () => this.#cut() },
      'connections left half-open': { weight: 3, hit: () => this.#leaveHalfOpen() },
      'networks away': { weight: 1, hit: () => this.#alone(() => this.#networkAway()) },
      'networks silent': { weight: 1, hit: () => this.#alone(() => this.#networkSilent()) },
    };
  }

  /** What half-open connections have held back arrives. */
  thaw() {
    for (const thaw of this.#thaws.splice(0)) thaw();
  }

  /** One, or all of them. */
  async #terminateBackends() {
    const limit = this.random.chance(0.7) ? 1 : MAX_CONNECTIONS;
    try {
      const client = await connect(this.arena.databaseUrl);
      const { rows } = await client
        .query(
          `select pg_terminate_backend(pid) from pg_stat_activity
           where application_name = 'jobq-dev' limit $1`,
          [limit],
        )
        .finally(() => client.end());
      return rows.length;
    } catch {
      return 0; // the server is away
    }
  }

  /** @param {'stop' | 'kill'} how */
  async #restart(how) {
    await this.arena.server[how]();
    await delay(this.random.between(0, 1_500));
    await this.arena.server.start();
  }

  /** Takes every connection that the server has. */
  async #fill() {
    const taken = await Promise.allSettled(
      Array.from({ length: MAX_CONNECTIONS }, () => connect(this.arena.databaseUrl)),
    );
    await delay(this.random.between(500, 1_500));
    const clients = taken.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
    await Promise.allSettled(clients.map((client) => client.end()));
  }

  #cut() {
    const { chosen, hits } = this.#someLinks();
    this.arena.proxy.cut(chosen);
    return hits();
  }

  /** To the end, or until what was held back arrives late. */
  async #leaveHalfOpen() {
    const { chosen, hits } = this.#someLinks();
    const thaw = this.arena.proxy.freeze(chosen);
    if (this.random.chance(0.5)) {
      this.#thaws.push(thaw);
    } else {
      await delay(this.random.between(200, this.arena.leaseMs));
      thaw();
    }
    return hits();
  }

  async #networkAway() {
    await this.arena.proxy.goAway();
    await delay(this.random.between(200, 2_000));
    await this.arena.proxy.comeBack();
  }

  async #networkSilent() {
    this.arena.proxy.freezeNewcomers(true);
    const thaw = this.arena.proxy.freeze();
    await delay(this.random.between(200, 2_000));
    this.arena.proxy.freezeNewcomers(false);
    thaw();
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

  /** One at a time: the queue has to get somewhere in between. @param {() => Promise<void>} work */
  async #alone(work) {
    if (this.#busy) return 0;
    this.#busy = true;
    try {
      await work();
      return 1;
    } finally {
      this.#busy = false;
    }
  }
}
