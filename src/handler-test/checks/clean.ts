/**
 * `clean`: a handler leaves no process behind, and writes nothing outside of its directories. What
 * is looked at: the handlers directory, and of the system's temporary directories what carries the
 * id of the case's job. More cannot be told apart from what other programs do meanwhile.
 */
import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { head, visible } from '../../job/text.js';
import { jobIdOf, type TestCase } from '../cases.js';
import type { Baseline, Finding } from './check.js';

/** Larger files are not searched for a job's id. */
const LARGEST_SEARCHED_BYTES = 64 * 1024;
/** Written by interpreters and package managers, not by handlers. */
const PASSED_OVER = /^(\.|node_modules$|__pycache__$)/;

/** Processes that the attempts of a baseline left running. */
export function processesLeft({ delivery }: Baseline): Finding[] {
  const left = new Set(delivery.results.flatMap(({ leftBehind }) => leftBehind ?? []));
  return [...left].map((commandLine) => ({
    fault: 'process-left',
    message: `it ends while a process of it still runs: ${visible(head(commandLine, 120))}. The queue kills that at once; wait for it, or end it`,
  }));
}

/** Files that carry the job's id, in directories that the next sandbox does not have. */
export async function temporaryFiles(testCase: TestCase, sinceMs: number): Promise<Finding[]> {
  // Not as a part of a longer number: that is somebody else's.
  const id = new RegExp(`(?<!\\d)${jobIdOf(testCase)}(?!\\d)`);
  const found: string[] = [];
  for (const dir of new Set([tmpdir(), '/tmp', '/var/tmp', '/dev/shm'])) {
    for (const name of await readdir(dir).catch(() => [])) {
      const file = path.join(dir, name);
      if (id.test(name)) {
        found.push(file);
        // Nobody else has this id; left there, it would change what the handler does next time.
        await rm(file, { recursive: true, force: true }).catch(() => {});
      } else if (await holds(file, id, sinceMs)) {
        found.push(file);
      }
    }
  }
  return found.map((file) => ({
    fault: 'file-outside',
    message: `it leaves ${visible(file)}, which the next sandbox does not have: keep state in JOBQ_OUTPUT_DIR`,
  }));
}

async function holds(file: string, id: RegExp, sinceMs: number): Promise<boolean> {
  const found = await stat(file).catch(() => undefined);
  if (!found?.isFile() || found.size > LARGEST_SEARCHED_BYTES || found.mtimeMs < sinceMs) {
    return false;
  }
  return id.test(await readFile(file, 'utf8').catch(() => ''));
}

/** Relative path → what changes when a file is written. */
export type Tree = ReadonlyMap<string, string>;

export async function treeOf(dir: string): Promise<Tree> {
  const tree = new Map<string, string>();
  const collect = async (folder: string): Promise<void> => {
    const entries = await readdir(path.join(dir, folder), { withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      if (PASSED_OVER.test(entry.name)) continue;
      const relative = path.join(folder, entry.name);
      if (entry.isDirectory()) await collect(relative);
      const found = await stat(path.join(dir, relative), { bigint: true }).catch(() => undefined);
      if (found?.isFile()) tree.set(relative, `${found.size} ${found.mtimeNs}`);
    }
  };
  await collect('');
  return tree;
}

/** Files that were written, made or removed between two looks. */
export function changedFiles(before: Tree, after: Tree): string[] {
  const names = new Set([...before.keys(), ...after.keys()]);
  return [...names].filter((name) => before.get(name) !== after.get(name));
}

export function besideHandlers(file: string): Finding {
  return {
    fault: 'file-outside',
    message: `it writes ${visible(file)} into the handlers directory, which production does not let it: keep state in JOBQ_OUTPUT_DIR`,
  };
}
