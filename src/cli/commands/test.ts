import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import type { Command } from 'commander';
import { type Config, requireHandlers } from '../../config.js';
import { openDatabase } from '../../db/open.js';
import type { Database } from '../../db/port.js';
import { attemptSettings, makeProvider } from '../../drain-config.js';
import { JobqError, systemReason } from '../../errors.js';
import { sample, type TestCase } from '../../handler-test/cases.js';
import { junitXml } from '../../handler-test/junit.js';
import { Lab } from '../../handler-test/lab.js';
import { summarize, type TestReport } from '../../handler-test/report.js';
import {
  readSnapshot,
  type Snapshot,
  snapshotFile,
  snapshotText,
} from '../../handler-test/snapshot.js';
import { tapText } from '../../handler-test/tap.js';
import { testHandlers } from '../../handler-test/test-handlers.js';
import { plural, visible } from '../../job/text.js';
import { storedPayloads } from '../../queue/stored-payload.js';
import { writeWhole } from '../../record/write-whole.js';
import type { SandboxProvider } from '../../sandbox/port.js';
import { hardwareHere } from '../../sandbox/qemu/index.js';
import { withHandlersBeside } from '../handlers-beside.js';
import { type Invocation, readInvocation } from '../options.js';
import type { Output } from '../output.js';
import { INTERRUPTED, onInterrupt } from '../signals.js';
import { casesOf, farSidesOf, kindsWithoutCase, snapshotsOf, storeAll } from '../test-cases.js';
import { againCommand, type TestFlags, type TestPlan, testPlan } from '../test-plan.js';
import { printTestReport } from '../test-report.js';
import { keepTesting } from '../test-watch.js';

/** `jobq-dev test [KIND or FIXTURE…]` */
export async function test(words: string[], command: Command): Promise<number> {
  const { config: given, output, flags } = readInvocation<TestFlags>(command);
  const plan = testPlan(words, flags);
  const config = withHandlersBeside(given, plan.named[0]?.file);
  requireHandlers(config);
  const invocation = { config, output, flags };
  const interrupt = onInterrupt(() => output.note('stopping the tests'));
  try {
    const { report, cases } = await runOnce(plan, invocation, interrupt.signal);
    if (flags.watch) {
      const again = async (touched: readonly string[]) =>
        (await runOnce(plan, invocation, interrupt.signal, touched)).cases;
      await keepTesting(again, cases, plan, invocation, interrupt.signal);
      return INTERRUPTED;
    }
    if (report.interrupted) return INTERRUPTED;
    return report.failed > 0 ? 1 : 0;
  } finally {
    interrupt.release();
  }
}

/** @param touched in place of every kind that the plan names. */
async function runOnce(
  plan: TestPlan,
  { config, output, flags }: Invocation<TestFlags>,
  signal: AbortSignal,
  touched?: readonly string[],
): Promise<{ report: TestReport; cases: TestCase[] }> {
  const startedAt = performance.now();
  const provider = await makeProvider(config, (message) => output.warn(message));
  const databases = await scratchDatabases(config, plan.jobs);
  const lab = new Lab({
    provider,
    databases,
    attempt: attemptSettings(config, ''),
    dir: path.join(config.dataDir, `test-${process.pid}`),
    jobs: plan.jobs,
    signal,
  });
  let db: Database | undefined;
  let elsewhere: SandboxProvider | undefined;
  const notes: string[] = [];
  try {
    const all = await casesOf(plan, config);
    const chosen = touched === undefined ? all : all.filter(({ kind }) => touched.includes(kind));
    ({ db } = await openDatabase({ memory: true, command: 'jobq-dev test' }));
    const store = (payloads: readonly string[]) => storedPayloads(db!, payloads);
    const cases = await storeAll(chosen, store);
    if (plan.checks.includes('same-everywhere')) {
      const isAskedFor = flags.only !== undefined;
      elsewhere = await otherProvider(config, provider, isAskedFor).catch((error: Error) => {
        notes.push(`same-everywhere is left out: ${error.message}`);
        return undefined;
      });
    }
    const farSides = await farSidesOf(cases, config, flags.allowNetwork ?? false);
    const checked = sample(cases, plan.sample);
    const snapshots = flags.update ? new Map() : await snapshotsOf(cases, config);
    let done = 0;
    const { results, interrupted, did } = await testHandlers({
      lab,
      cases,
      checked,
      checks: plan.checks,
      handlersDir: config.handlers,
      store,
      elsewhere,
      snapshotOf: (kind) => snapshots.get(kind),
      masks: config.testMask,
      shellNames: shellNames(config),
      farSideOf: (kind) => farSides.get(kind)!,
      patienceMs: plan.patienceMs,
      seed: plan.seed,
      again: (testCase, check) => againCommand(testCase, check, plan, { ...flags }),
      onResult: ({ kind, check }) => {
        done += 1;
        output.progress(
          `${plural(done, 'check')} done · ${plural(lab.attempts, 'attempt')} · last: ${visible(kind)} ${check}`,
        );
      },
    });
    const report = summarize({
      results,
      interrupted,
      seed: plan.seed,
      cases: cases.length,
      checked: checked.size,
      attempts: lab.attempts,
      attemptMs: lab.attemptMs,
      wallMs: performance.now() - startedAt,
      notes,
      withoutCase: await kindsWithoutCase(all, plan, config),
    });
    if (flags.update && !interrupted) await accept(did, config, output);
    if (flags.junit !== undefined) await writeText(flags.junit, junitXml(report));
    if (flags.tap) output.line(tapText(report).trimEnd());
    else printTestReport(report, output);
    output.document(report);
    return { report, cases: all };
  } finally {
    await lab.close();
    await databases?.close();
    await provider.close();
    await elsewhere?.close();
    await db?.close();
  }
}

/** @throws JobqError `config` when the SQL cannot be read. */
async function scratchDatabases({ testDatabase: file }: Config, jobs: number) {
  if (file === undefined) return undefined;
  try {
    // The engines are loaded only where they are asked for.
    const { ScratchDatabases } = await import('../../handler-test/scratch-database.js');
    return new ScratchDatabases({ file, sql: await readFile(file, 'utf8') }, jobs);
  } catch (error) {
    throw new JobqError(
      'config',
      `cannot read "testDatabase", ${file}: ${systemReason(error)}`,
      'It names a file of SQL that sets up the database which handlers under test get.',
    );
  }
}

/**
 * A provider of the other sort: a microVM for processes, processes for a microVM. One that is emulated
 * is not taken unless the check was asked for by name: each attempt would take many times longer.
 * @throws JobqError `sandbox-unavailable`
 */
async function otherProvider(
  config: Config,
  provider: SandboxProvider,
  isAskedFor: boolean,
): Promise<SandboxProvider> {
  const sandbox = provider.name === 'process' ? 'qemu' : 'process';
  if (sandbox === 'qemu' && !isAskedFor) {
    const { works, reason } = await hardwareHere(config.vmKernel);
    if (!works) {
      throw new JobqError(
        'sandbox-unavailable',
        `a microVM would be emulated here (${reason}); --only same-everywhere runs it all the same`,
      );
    }
  }
  return makeProvider({ ...config, sandbox, namespaces: 'off', strict: false }, () => {});
}

/** Variables of the shell that handlers do not get. Short words could be in any error. */
function shellNames({ env }: Config): string[] {
  return Object.keys(process.env).filter(
    (name) => /^(?=\w*_|\w{8})\w+$/.test(name) && !Object.hasOwn(env, name),
  );
}

function writeText(file: string, text: string): Promise<void> {
  return writeWhole(file, Readable.from([text]));
}

async function accept(did: Map<string, Snapshot>, config: Config, output: Output): Promise<void> {
  for (const [kind, seen] of did) {
    // One that cannot be read is written anew.
    const before = await readSnapshot(config.handlers, kind).catch(() => undefined);
    await writeText(snapshotFile(config.handlers, kind), snapshotText(before, seen));
  }
  output.note(`accepted what ${plural(did.size, 'handler')} did: see the *.snapshot.json files`);
}
