// A jobq-dev that is about to be killed: runs one handler in a microVM and says when it runs.
import { join } from 'node:path';
import { createQemuProvider } from '../../../dist/src/sandbox/qemu/provider.js';

const [root, script] = process.argv.slice(2);
const provider = await createQemuProvider({
  workDir: join(root, 'work'),
  journalDir: join(root, 'journal'),
  handlersDir: join(root, 'handlers'),
  interpreters: ['sh', 'perl'],
  memoryBytes: 512 << 20,
  accelerator: 'tcg',
});
const sandbox = await provider.create({
  handlersDir: join(root, 'handlers'),
  outputDir: join(root, 'output'),
  memoryBytes: 512 << 20,
  ttlMs: 900_000,
  label: 'test',
});
await sandbox.run({
  interpreter: ['sh'],
  script,
  args: [],
  env: {},
  timeoutMs: 300_000,
  outputLimitBytes: 1 << 20,
  onOutput: (_stream, text) => process.stdout.write(text),
});
