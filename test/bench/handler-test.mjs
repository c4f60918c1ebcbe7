/** `jobq-dev test` against the attempts that it makes. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { openDatabase } from '#src/db/open.js';
import { startAttempt } from '#src/drain/attempt.js';
import { CHECKS } from '#src/handler-test/checks/check.js';
import { Lab } from '#src/handler-test/lab.js';
import { testHandlers } from '#src/handler-test/test-handlers.js';
import { storedPayloads } from '#src/queue/stored-payload.js';
import { createProvider } from '#src/sandbox/create.js';
import { compare, report, spread, timed } from './measure.mjs';

const HANDLERS = {
  python: {
    file: 'python.py',
    text: `import json, os, sys
with open(sys.argv[1]) as file:
    payload = json.load(file)
if not isinstance(payload, dict) or not isinstance(payload.get("n"), int):
    sys.exit("payload.n must be a whole number")
target = os.path.join(os.environ["JOBQ_OUTPUT_DIR"], "n")
with open(target + ".part", "w") as file:
    file.write(str(payload["n"]))
os.replace(target + ".part", target)
`,
  },
  node: {
    file: 'node.mjs',
    text: `import { readFileSync } from 'node:fs';
console.log(JSON.parse(readFileSync(process.argv[2], 'utf8')).n);
`,
  },
};
const JOBS = 2;

export async function handlerTest() {
  const dir = mkdtempSync(path.join(tmpdir(), 'jobq-bench-'));
  const handlersDir = path.join(dir, 'handlers');
  mkdirSync(handlersDir);
  for (const { file, text } of Object.values(HANDLERS)) {
    writeFileSync(path.join(handlersDir, file), text);
  }
  const provider = await createProvider({
    name: 'process',
    workDir: path.join(dir, 'work'),
    journalDir: path.join(dir, 'journal'),
    namespaces: 'off',
  });
  const attempt = {
    handlersDir,
    interpreters: {},
    env: {},
    timeoutMs: 60_000,
    sandboxTtlMs: 60_000,
    memoryBytes: 512 * 1024 ** 2,
    outputLimitBytes: 1024 ** 2,
  };
  const lab = new Lab({ provider, attempt, dir: path.join(dir, 'test'), jobs: JOBS });
  const { db } = await openDatabase({ memory: true, command: 'bench' });
  const cases = (kind, count) =>
    Array.from({ length: count }, (_, index) => ({
      kind,
      name: `bench.jsonl:${index + 1}`,
      payload: `{"n": ${index}}`,
      maxAttempts: 3,
      expect: undefined,
      own: true,
    }));
  const test = async (tested, checks) => {
    const { results } = await testHandlers({
      lab,
      cases: tested,
      checked: new Set(tested),
      checks,
      handlersDir,
      farSideOf: () => ({ answers: [], allowNetwork: false }),
      patienceMs: 10_000,
      seed: 'bench',
      store: (payloads) => storedPayloads(db, payloads),
      snapshotOf: () => undefined,
      masks: [],
      shellNames: [],
      elsewhere: undefined,
      again: () => '',
    });
    const failed = results.find(({ verdict }) => verdict === 'failed');
    if (failed !== undefined) throw new Error(failed.findings[0].message);
  };
  const bareAttempt = async (kind, id) => {
    const job = { id: String(id), kind, payload: `{"n": ${id}}`, attempts: 1, max_attempts: 3 };
    const settings = { ...attempt, outputRoot: path.join(dir, 'output') };
    const { error } = await startAttempt(job, provider, settings).result;
    if (error !== null) throw new Error(error);
  };
  try {
    await test(cases('python', 4), ['runs']); // the proxies are loaded
    for (const kind of Object.keys(HANDLERS)) {
      const ours = () => timed(() => test(cases(kind, 20), ['runs']));
      const bare = () => timed(() => spread(20, JOBS, (id) => bareAttempt(kind, id)));
      await ours();
      report(
        `the check "runs" over bare attempts, ${kind}`,
        await compare({ rounds: 7, ours, bare }),
        { limit: 1.2 },
      );
    }
    const before = lab.attemptMs;
    const wall = await timed(() => test(cases('python', 100), CHECKS));
    report(
      '100 cases, all checks, over their attempts on two cores',
      { ours: wall, bare: (lab.attemptMs - before) / JOBS },
      { limit: 1.2 },
    );
  } finally {
    await lab.close();
    await provider.close();
    await db.close();
    rmSync(dir, { recursive: true, force: true });
  }
}
