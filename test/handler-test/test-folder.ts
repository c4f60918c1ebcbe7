/** Runs `testHandlers` on a folder with `handlers/` in it, with real sandboxes and proxies. */
import path from 'node:path';
import { openDatabase } from '#src/db/open.js';
import { findCases, namedCases, type TestCase } from '#src/handler-test/cases.js';
import type { CheckName } from '#src/handler-test/checks/check.js';
import { readAnswers } from '#src/handler-test/far-side/answers.js';
import type { FarSide } from '#src/handler-test/far-side/far-side.js';
import { Lab } from '#src/handler-test/lab.js';
import { ScratchDatabases } from '#src/handler-test/scratch-database.js';
import type { Snapshot } from '#src/handler-test/snapshot.js';
import { type Tested, testHandlers } from '#src/handler-test/test-handlers.js';
import { storedPayloads } from '#src/queue/stored-payload.js';
import type { SandboxProvider } from '#src/sandbox/port.js';
import { createProcessProvider } from '#src/sandbox/process/index.js';

export interface FolderOptions {
  checks: readonly CheckName[];
  /** Files of cases; default: what is found. */
  named?: string[];
  jobs?: number;
  memoryBytes?: number;
  timeoutMs?: number;
  patienceMs?: number;
  seed?: string;
  allowNetwork?: boolean;
  /** SQL that sets up the scratch database. */
  setup?: string;
  snapshots?: Record<string, Snapshot>;
  masks?: RegExp[];
  elsewhere?: SandboxProvider;
  shellNames?: string[];
}

export async function testFolder(
  dir: string,
  options: FolderOptions,
): Promise<Tested & { attempts: number; cases: TestCase[] }> {
  const handlersDir = path.join(dir, 'handlers');
  const found = await findCases({
    handlersDir,
    fixturesDir: path.join(dir, 'fixtures'),
    named: (options.named ?? []).map((word) => namedCases(word)!),
    cwd: dir,
  });
  const { db } = await openDatabase({ memory: true, command: 'test' });
  const provider = await createProcessProvider({
    workDir: path.join(dir, '.jobq/work'),
    journalDir: path.join(dir, '.jobq/journal'),
  });
  const { setup, jobs = 2 } = options;
  const databases =
    setup === undefined ? undefined : new ScratchDatabases({ file: 'setup', sql: setup }, jobs);
  const lab = new Lab({
    provider,
    databases,
    attempt: {
      handlersDir,
      interpreters: {},
      env: {},
      timeoutMs: options.timeoutMs ?? 600_000,
      sandboxTtlMs: 900_000,
      memoryBytes: options.memoryBytes ?? 512 * 1024 ** 2,
      outputLimitBytes: 1024 ** 2,
    },
    dir: path.join(dir, '.jobq/test'),
    jobs,
  });
  try {
    const store = (payloads: readonly string[]) => storedPayloads(db, payloads);
    const payloads = await store(found.map(({ payload }) => payload));
    const cases = found.map((each, index) => ({ ...each, payload: payloads[index]! }));
    const farSides = new Map<string, FarSide>();
    for (const { kind } of cases) {
      const answers = await readAnswers(handlersDir, kind);
      farSides.set(kind, { answers, allowNetwork: options.allowNetwork ?? false });
    }
    const tested = await testHandlers({
      lab,
      cases,
      checked: new Set(cases),
      checks: options.checks,
      handlersDir,
      farSideOf: (kind) => farSides.get(kind)!,
      patienceMs: options.patienceMs ?? 5_000,
      seed: options.seed ?? 'test',
      store,
      snapshotOf: (kind) => options.snapshots?.[kind],
      masks: options.masks ?? [],
      shellNames: options.shellNames ?? [],
      elsewhere: options.elsewhere,
      again: (testCase, check) => `jobq-dev test ${testCase.name} --only ${check}`,
    });
    return { ...tested, attempts: lab.attempts, cases };
  } finally {
    await lab.close();
    await databases?.close();
    await provider.close();
    await db.close();
  }
}
