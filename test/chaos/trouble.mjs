// @ts-check
/** Makes trouble, at random, for a while. */
import { statSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { processTroubles } from './process-troubles.mjs';
import { ServerTroubles } from './server-troubles.mjs';

/**
 * How often it is done, against the others, and what is done: gives back how many it hit, once it is
 * over and undone.
 * @typedef {{ weight: number, hit: () => Promise<number> }} Way
 */

/** On a slow machine trouble waits so long for something to go on that it could hit. */
const WAIT_FOR_RUN_MS = 5_000;
/** Of kinds that find nothing to hit, one after the other. */
const MOST_TRIES = 5;

export class Trouble {
  /** How many of each were hit. @type {Map<string, number>} */
  counts;
  /** @type {Record<string, Way>} */
  #ways;
  #server;
  /** What comes next, from its end. @type {string[]} */
  #deck = [];
  /** What found nothing to hit. @type {string[]} */
  #missed = [];
  /** What has still to be undone. @type {Set<Promise<void>>} */
  #underWay = new Set();

  /** @param {import('./arena.mjs').Arena} arena @param {import('../support/random.mjs').Random} random */
  constructor(arena, random) {
    this.arena = arena;
    this.random = random;
    this.#server = new ServerTroubles(arena, random);
    this.#ways = { ...processTroubles(arena, random), ...this.#server.ways };
    this.counts = new Map(Object.keys(this.#ways).map((kind) => [kind, 0]));
  }

  /** @param {{ forMs: number, everyMs: number }} pace */
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

  /** Undoes what lasts: nothing is stopped, away or silent any more. */
  async end() {
    await Promise.all(this.#underWay);
    this.#server.thaw();
  }

  async #doOne() {
    for (let tries = 0; tries < MOST_TRIES; tries += 1) {
      const kind = this.#draw();
      const hits = (await this.#ways[kind]?.hit()) ?? 0;
      if (hits > 0) {
        this.counts.set(kind, (this.counts.get(kind) ?? 0) + hits);
        return;
      }
      this.#missed.push(kind);
    }
  }

  /** From a shuffled deck, so that a short run has seen every kind too. */
  #draw() {
    if (this.#deck.length === 0) {
      const cards = Object.entries(this.#ways).flatMap(([kind, { weight }]) =>
        Array.from({ length: weight }, () => kind),
      );
      this.#deck = this.random.shuffled([...this.#missed.splice(0), ...cards]);
    }
    return this.#deck.pop() ?? '';
  }

  /** Resolves when a handler has said something since. */
  async #nextRun() {
    const size = () => sizeOf(this.arena.shared.effects) + sizeOf(this.arena.local.effects);
    const before = size();
    const until = performance.now() + WAIT_FOR_RUN_MS;
    while (size() === before && performance.now() < until) await delay(20);
  }
}

/** @param {string} file */
function sizeOf(file) {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}
