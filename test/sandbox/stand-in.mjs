// A jobq-dev stand-in that is killed by its test: runs one shell handler and waits for ever.
//   MARK=… node stand-in.mjs ROOT SCRIPT PERL(yes|no)
import { join } from 'node:path';
import { createProcessProvider } from '#src/sandbox/process/index.js';

const [root, script, perl] = process.argv.slice(2);
const provider = await createProcessProvider({
  workDir: join(root, 'work'),
  journalDir: join(root, 'journal'),
  ...(perl === 'no' ? { perl: false } : {}),
});
const sandbox = await provider.create({
  handlersDir: join(root, 'handlers'),
  outputDir: join(root, 'output'),
  memoryBytes: 512 << 20,
  ttlMs: 900_000,
  label: 'stand-in',
});
await sandbox.run({
  interpreter: ['sh'],
  script,
  args: [],
  env: { MARK: process.env.MARK },
  timeoutMs: 600_000,
  outputLimitBytes: 1000,
  onOutput: (_, text) => process.stdout.write(text),
});
