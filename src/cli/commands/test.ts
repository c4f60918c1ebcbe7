import path from 'node:path';
import { Readable } from 'node:stream';
import { watch } from 'chokidar';
import type { Command } from 'commander';
import { type Config, requireHandlers } from '../../config.js';
import { openDatabase } from '../../db/open.js';
import type { Database } from '../../db/port.js';
import { knownKinds } from '../../drain/handler.js';
import { attemptSettings, makeProvider } from '../../drain-config.js';
import { JobqError } from '../../errors.js';
import { findCases, sample, type TestCase } from '../../handler-test/cases.js';
import { readAnswers } from '../../handler-test/far-side/answers.js';
import type { FarSide } from '../../handler-test/far-side/far-side.js';
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
import { touchedKinds } from '../../handler-test/touched.js';
import { plural, visible } from '../../job/text.js';
import { storedPayloads } from '../../queue/stored-payload.js';
import { writeWhole } from '../../record/write-whole.js';
import type { SandboxProvider } from '../../sandbox/port.js';
import { hardwareHere } from '../../sandbox/qemu/index.js';
import { didYouMean } from '../../suggest.js';
import { withHandlersBeside } from '../handlers-beside.js';
import { type Invocation, readInvocation } from '../options.js';
import type { Output } from '../output.js';
import { INTERRUPTED, onInterrupt } from '../signals.js';
import { againCommand, type TestFlags, type TestPlan, testPlan } from '../test-plan.js';
import { printTestReport } from '../test-report.js';

/** How long saved files are gathered before they are tested: editors write several at once. */
const GATHER_MS = 200;

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
    if (flags.watch) return await keepTesting(plan, cases, invocation, interrupt.signal);
    if (report.interrupted) return INTERRUPTED;
    return report.failed > 0 ? 1 : 0;
  } finally {
    interrupt.release();
  }
}

/** Tests again whatever a saved file touches, until it is interrupted. */
async function keepTesting(
  plan: TestPlan,
  firstCases: readonly TestCase[],
  invocation: Invocation<TestFlags>,
  signal: AbortSignal,
): Promise<number> {
  const { config, output } = invocation;
  const cwd = process.cwd();
  const roots = [config.handlers, fixturesDir(config), ...plan.named.map(({ file }) => file)];
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
        ({ cases } = await runOnce(plan, invocation, signal, touched));
      } catch (error) {
        // A line half typed: it is said, and the next save is waited for.
        if (!(error instanceof JobqError)) throw error;
        output.error(error);
      }
    }
    return INTERRUPTED;
  } finally {
    await watcher.close();
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
  const lab = new Lab({
    provider,
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
    await provider.close();
    await elsewhere?.close();
    await db?.close();
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

function fixturesDir(config: Config): string {
  return path.join(
    config.file === undefined ? process.cwd() : path.dirname(config.file),
    'fixtures',
  );
}

async function casesOf(plan: TestPlan, config: Config): Promise<TestCase[]> {
  const all = await findCases({
    handlersDir: config.handlers,
    fixturesDir: fixturesDir(config),
    named: plan.named,
    cwd: process.cwd(),
  });
  const wanted =
    plan.kinds.length === 0 ? all : all.filter(({ kind }) => plan.kinds.includes(kind));
  const known = [...(await knownKinds(config.handlers)), ...all.map(({ kind }) => kind)];
  const unknown = plan.kinds.find((kind) => !known.includes(kind));
  if (unknown !== undefined) {
    throw new JobqError(
      'usage',
      `there is no handler and no case of kind ${JSON.stringify(visible(unknown))}${didYouMean(unknown, known)}`,
      `Handlers are looked for in ${config.handlers}; a file of cases is named *.jsonl.`,
    );
  }
  if (wanted.length > 0) return wanted;
  const where = plan.kinds.length === 0 ? '' : ` for ${plan.kinds.map(visible).join(', ')}`;
  throw new JobqError(
    'input',
    `there is no case${where}: nothing can be tested`,
    'Put a line {"payload":{…}} into handlers/<kind>.cases.jsonl, or name a fixture: jobq-dev test burst.jsonl',
  );
}

/** The cases with their payloads as Postgres hands them to a handler. */
async function storeAll(
  cases: readonly TestCase[],
  store: (payloads: readonly string[]) => Promise<(string | undefined)[]>,
): Promise<TestCase[]> {
  const stored = await store(cases.map(({ payload }) => payload));
  return cases.map((testCase, index) => {
    const payload = stored[index];
    if (payload !== undefined) return { ...testCase, payload };
    throw new JobqError(
      'input',
      `${testCase.name}: Postgres cannot store this payload as jsonb`,
      'Change it, or take the line out: no such job can be in the table.',
    );
  });
}

async function farSidesOf(cases: readonly TestCase[], config: Config, allowNetwork: boolean) {
  const farSides = new Map<string, FarSide>();
  for (const kind of new Set(cases.map((each) => each.kind))) {
    farSides.set(kind, { answers: await readAnswers(config.handlers, kind), allowNetwork });
  }
  return farSides;
}

async function snapshotsOf(cases: readonly TestCase[], config: Config) {
  const snapshots = new Map<string, Snapshot | undefined>();
  for (const kind of new Set(cases.map((each) => each.kind))) {
    snapshots.set(kind, await readSnapshot(config.handlers, kind));
  }
  return snapshots;
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

/** Only told when everything was to be tested. */
async function kindsWithoutCase(cases: readonly TestCase[], plan: TestPlan, config: Config) {
  if (plan.named.length > 0 || plan.kinds.length > 0) return [];
  const kinds = await knownKinds(config.handlers);
  return kinds.filter((kind) => !cases.some((each) => each.kind === kind));
}
