// @ts-check
/** What should not be there when everything has ended. */
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { processesOf } from './alive.mjs';

/** How long after the end of a jobq-dev its handlers may be found (DESIGN: "Sandboxes"). */
const GRACE_MS = 2_000;

/**
 * @param {{ root: string, shared: { dataDir: string }, local: { dataDir: string } }} arena
 * @returns {Promise<string[]>} each as a sentence
 */
export async function leftovers({ root, shared, local }) {
  const until = performance.now() + GRACE_MS;
  while (processesOf(root).length > 0 && performance.now() < until) await delay(50);
  const found = processesOf(root).map(
    ({ pid, command }) => `process ${pid} still runs: ${command}`,
  );
  const folders = [shared, local].flatMap(({ dataDir }) => [
    path.join(dataDir, 'work'),
    path.join(dataDir, 'journal'),
  ]);
  for (const folder of [...folders, path.join(root, 'tmp')]) {
    for (const name of existsSync(folder) ? readdirSync(folder) : []) {
      found.push(`${path.relative(root, path.join(folder, name))} was left behind`);
    }
  }
  return found;
}
