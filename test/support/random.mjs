// @ts-check
/** Choices from a seed: the same seed makes the same choices (when things happen is not its to say). */

export class Random {
  #state;

  /** @param {number} seed */
  constructor(seed) {
    this.#state = seed >>> 0;
  }

  /** From 0 to below 1. Source: mulberry32, https://gist.github.com/tommyettinger/46a874533244883189143505d203312c */
  next() {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let t = this.#state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number; both ends included. @param {number} least @param {number} most */
  between(least, most) {
    return least + Math.floor(this.next() * (most - least + 1));
  }

  /** Any number from the one to below the other. @param {number} least @param {number} most */
  within(least, most) {
    return least + this.next() * (most - least);
  }

  /** @param {number} probability */
  chance(probability) {
    return this.next() < probability;
  }

  /** @template T @param {readonly T[]} items @returns {T | undefined} undefined: there is none */
  pick(items) {
    return items[Math.floor(this.next() * items.length)];
  }

  /** @template T @param {readonly T[]} items @returns {T[]} */
  shuffled(items) {
    const keyed = items.map((item) => ({ item, key: this.next() }));
    return keyed.sort((a, b) => a.key - b.key).map(({ item }) => item);
  }

  /** By weight. @template {string} T @param {Record<T, number>} weights @returns {T} */
  weighted(weights) {
    const entries = /** @type {[T, number][]} */ (Object.entries(weights));
    let left = this.next() * entries.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [item, weight] of entries) {
      left -= weight;
      if (left < 0) return item;
    }
    throw new Error('there is nothing to choose from');
  }
}
