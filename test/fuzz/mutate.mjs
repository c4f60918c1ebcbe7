// @ts-check
/** Bytes that are not what they should be. */

/** @typedef {import('../support/random.mjs').Random} Random */

/** @param {Random} random @param {number} most */
export function noise(random, most) {
  return Buffer.from(Array.from({ length: random.between(0, most) }, () => random.between(0, 255)));
}

/** Lengths that a header may claim: too small, too large, negative. */
const LENGTHS = [0, 1, 3, 4, 5, 9_999, 10_001, 2 ** 20, 2 ** 28 + 1, 2 ** 31 - 1, -1, -(2 ** 31)];

/**
 * A few faults at places of the seed's choosing.
 * @param {Random} random @param {Buffer} bytes @returns {Buffer}
 */
export function mutated(random, bytes) {
  let result = Buffer.from(bytes);
  for (let n = random.between(1, 3); n > 0 && result.length > 0; n -= 1) {
    const at = random.between(0, result.length - 1);
    const to = Math.min(result.length, at + random.between(1, 16));
    const faults = {
      flip: () => {
        result[at] = /** @type {number} */ (result[at]) ^ (1 << random.between(0, 7));
      },
      length: () => {
        if (at + 4 <= result.length)
          result.writeInt32BE(/** @type {number} */ (random.pick(LENGTHS)), at);
      },
      cut: () => {
        result = result.subarray(0, at);
      },
      drop: () => {
        result = Buffer.concat([result.subarray(0, at), result.subarray(to)]);
      },
      twice: () => {
        result = Buffer.concat([result.subarray(0, to), result.subarray(at)]);
      },
      insert: () => {
        result = Buffer.concat([result.subarray(0, at), noise(random, 16), result.subarray(at)]);
      },
    };
    faults[random.weighted({ flip: 4, length: 3, cut: 2, drop: 2, twice: 1, insert: 2 })]();
  }
  return result;
}
