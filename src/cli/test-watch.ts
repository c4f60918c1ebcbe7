/** `jobq-dev test --watch` */
import { once } from 'node:events';
import path from 'node:path';
import { watch } from 'chokidar';
import { knownKinds } from '../drain/handler.js';
import { JobqError } from '../errors.js';
import type { TestCase } from '../handler-test/cases.js';
import { touchedKinds } from '../handler-test/touched.js';
import type { Invocation } from './options.js';
import { fixturesDir } from './test-cases.js';
import type { TestPlan } from './test-plan.js';

/** How long saved files are gathered before they are tested: editors write several at once. */
const GATHER_MS = 200;

/**
 * Tests again whatever a saved file touches, until it is interrupted.
 * @param test runs the cases of some kinds, and resolves with all that there are by then.
 */
export async function keepTesting(
  test: (touched: readonly string[]) => Promise<TestCase[]>,
  firstCases: readonly TestCase[],
  plan: TestPlan,
  { config, output }: Pick<Invocation<object>, 'config' | 'output'>,
  signal: AbortSignal,
): Promise<void> {
  const cwd = process.cwd();
  const roots = [config.handlers, fixturesDir(config), ...plan.named.map(({ file }) => file)];
  if (config.testDatabase !== undefined) roots.push(config.testDatabase);
  const watcher = watch(roots, {
    cwd,
    ignoreInitial: true,
    ignored: (file) => /(^|[/\\])(\.[^./\\]|node_modules)/.test(path.relative(cwd, file)),
  });
  const changed = new Set<string>();
  let wake = () => {};
  watcher.on('all', (_event, file) => {
    changed.add(path.resolve(cwd, file));
    wake();
  });
  signal.addEventListener('abort', () => wake(), { once: true });
  let cases = firstCases;
  await once(watcher, 'ready');
  output.note('waiting for a handler or a case to be saved; Ctrl-C ends it');
  try {
    while (!signal.aborted) {
      if (changed.size === 0) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
        if (!signal.aborted) await new Promise((resolve) => setTimeout(resolve, GATHER_MS));
        continue;
      }
      const files = [...changed];
      changed.clear();
      const kinds = await knownKinds(config.handlers);
      const touched = touchedKinds(files, cases, { handlersDir: config.handlers, cwd, kinds });
      try {
        cases = await test(touched);
      } catch (error) {
        // A line half typed: it is said, and the next save is waited for.
        if (!(error instanceof JobqError)) throw error;
        output.error(error);
      }
    }
  } finally {
    await watcher.close();
  }
}
