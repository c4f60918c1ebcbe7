/**
 * Ratios of two things measured in one run, beside each other: machines are shared and noisy, so an
 * absolute time proves nothing.
 */

/** @param {number[]} values */
export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/**
 * Runs `ours` and `bare` in turns and compares their medians.
 * @param {{ rounds: number, ours: () => Promise<number>, bare: () => Promise<number> }} options
 *   Each gives back the milliseconds of one round.
 */
export async function compare({ rounds, ours, bare }) {
  const times = { ours: /** @type {number[]} */ ([]), bare: /** @type {number[]} */ ([]) };
  for (let round = 0; round < rounds; round += 1) {
    // The order changes, so that neither always meets what the other has warmed.
    const order = round % 2 === 0 ? ['ours', 'bare'] : ['bare', 'ours'];
    for (const which of order) times[which].push(await { ours, bare }[which]());
  }
  return { ours: median(times.ours), bare: median(times.bare) };
}

/** @param {() => Promise<unknown>} work @returns {Promise<number>} milliseconds */
export async function timed(work) {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

/**
 * Runs `total` pieces of work, `width` at a time.
 * @param {number} total
 * @param {number} width
 * @param {(n: number) => Promise<unknown>} work gets its number, from 1 on
 */
export async function spread(total, width, work) {
  let next = 0;
  const lane = async () => {
    while (next < total) {
      next += 1;
      await work(next);
    }
  };
  await Promise.all(Array.from({ length: width }, lane));
}

/**
 * Prints one figure. `limit` is what the project asks of it; `atLeast` turns it round.
 * @param {string} name
 * @param {{ ours: number, bare: number }} times
 * @param {{ limit: number, atLeast?: boolean, unit?: string }} options
 */
export function report(name, { ours, bare }, { limit, atLeast = false, unit = 'ms' }) {
  const ratio = atLeast ? bare / ours : ours / bare;
  const good = atLeast ? ratio >= limit : ratio <= limit;
  const figures = `${ours.toFixed(1)} ${unit} against ${bare.toFixed(1)} ${unit}`;
  console.log(
    `${good ? 'ok  ' : 'OVER'} ${name}: ${ratio.toFixed(2)} (asked: ${atLeast ? '≥' : '≤'} ${limit}; ${figures})`,
  );
}
