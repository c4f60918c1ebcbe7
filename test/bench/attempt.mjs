/** One attempt (sandbox, payload, run, clean-up) against a bare spawn of the same script. */
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startAttempt } from '#src/drain/attempt.js';
import { createProvider } from '#src/sandbox/create.js';
import { compare, report, spread, timed } from './measure.mjs';

const SCRIPTS = {
  'work.py': 'import json, sys\nprint(len(json.load(open(sys.argv[1]))))\n',
  'work.mjs':
    "import { readFileSync } from 'node:fs';\nconsole.log(Object.keys(JSON.parse(readFileSync(process.argv[2], 'utf8'))).length);\n",
};
const PAYLOAD = '{"a": 1}';

function bareRun(program, script, payload) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, [script, payload], { stdio: ['ignore', 'pipe', 'pipe'] });
    child.stdout.resume();
    child.stderr.resume();
    child.on('close', (code) => (code === 0 ? resolve(undefined) : reject(new Error(`${code}`))));
  });
}

export async function attempt() {
  const dir = mkdtempSync(path.join(tmpdir(), 'jobq-bench-'));
  const handlersDir = path.join(dir, 'handlers');
  mkdirSync(handlersDir);
  const payload = path.join(dir, 'payload.json');
  writeFileSync(payload, PAYLOAD);
  const provider = await createProvider({
    name: 'process',
    workDir: path.join(dir, 'work'),
    journalDir: path.join(dir, 'journal'),
    namespaces: 'off',
  });
  const settings = {
    handlersDir,
    outputRoot: path.join(dir, 'output'),
    interpreters: {},
    env: {},
    timeoutMs: 60_000,
    sandboxTtlMs: 60_000,
    memoryBytes: 512 * 1024 ** 2,
    outputLimitBytes: 1024 ** 2,
  };
  const job = (id) => ({
    id: String(id),
    kind: 'work',
    payload: PAYLOAD,
    attempts: 1,
    max_attempts: 3,
  });
  try {
    for (const [name, text] of Object.entries(SCRIPTS)) {
      const script = path.join(handlersDir, name);
      writeFileSync(script, text);
      const program = name.endsWith('.py') ? '/usr/bin/python3' : process.execPath;
      const total = name.endsWith('.py') ? 24 : 12;
      for (const width of [1, 4]) {
        const ours = () =>
          timed(() =>
            spread(total, width, async (id) => {
              const { error } = await startAttempt(job(id), provider, settings).result;
              if (error !== null) throw new Error(error);
            }),
          );
        const bare = () =>
          timed(() => spread(total, width, () => bareRun(program, script, payload)));
        await ours();
        report(
          `attempt over bare spawn, ${name}, ${width} at a time`,
          await compare({ rounds: 9, ours, bare }),
          { limit: 1.15 },
        );
      }
      rmSync(script);
    }
  } finally {
    await provider.close();
    rmSync(dir, { recursive: true, force: true });
  }
}
