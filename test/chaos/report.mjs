// @ts-check
/** A run in figures, and what it found wrong. */
import { history } from './evidence.mjs';

/** @typedef {import('./check.mjs').Violation} Violation */
/** @typedef {import('./evidence.mjs').Evidence} Evidence */

const SHOWN = 10;

/** @param {string} title @param {Iterable<[string, number]>} figures */
export function printFigures(title, figures) {
  console.log(title);
  for (const [name, count] of figures) console.log(`  ${String(count).padStart(6)}  ${name}`);
}

/**
 * @param {string} where
 * @param {readonly Violation[]} violations
 * @param {Evidence} evidence
 */
export function printViolations(where, violations, evidence) {
  for (const { job, what } of violations.slice(0, SHOWN)) {
    console.log(`BROKEN  ${where}: ${job === undefined ? '' : `job ${job} `}${what}`);
  }
  if (violations.length > SHOWN) console.log(`… and ${violations.length - SHOWN} more`);
  const first = violations.find(({ job }) => job !== undefined)?.job;
  if (first !== undefined) console.log(history(evidence, first));
}
