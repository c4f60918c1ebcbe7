// @ts-check
/** Choices from a seed: the same seed makes the same choices. What they meet is not its to say. */

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

  /** @param {number} least @param {number} most */
  between(least, most) {
    return least + this.next() * (most - least);
  }

  /** @template T @param {readonly T[]} items @returns {T[]} */
  shuffled(items) {
    const keyed = items.map((item) => ({ item, key: this.next() }));
    return keyed.sort((a, b) => a.key - b.key).map(({ item }) => item);
  }
}
