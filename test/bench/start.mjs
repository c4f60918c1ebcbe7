/** Start to ready, against what bare PGlite needs to open the same thing. */
import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { compare, report, timed } from './measure.mjs';

const CLI = fileURLToPath(new URL('../../dist/src/cli.js', import.meta.url));
const BARE = fileURLToPath(new URL('./bare-pglite.mjs', import.meta.url));

/** Starts a program, waits for a line on stdout, kills it. */
function untilLine(args, pattern, cwd) {
  return timed(
    () =>
      new Promise((resolve, reject) => {
        const child = spawn(process.execPath, args, { cwd, stdio: ['ignore', 'pipe', 'inherit'] });
        let text = '';
        child.stdout.on('data', (chunk) => {
          text += chunk;
          if (pattern.test(text)) child.kill('SIGKILL');
        });
        child.on('close', () =>
          pattern.test(text) ? resolve(undefined) : reject(new Error(text)),
        );
      }),
  );
}

export async function start() {
  const dir = mkdtempSync(path.join(tmpdir(), 'jobq-bench-'));
  try {
    await untilLine([CLI, '--port', '0'], /ready at/, dir);
    // A directory of its own for each side: both must find what they left themselves.
    const bareDir = path.join(dir, 'bare');
    cpSync(path.join(dir, '.jobq/pgdata'), bareDir, { recursive: true });
    report(
      'start to ready on an existing directory',
      await compare({
        rounds: 7,
        ours: () => untilLine([CLI, '--port', '0'], /ready at/, dir),
        bare: () => untilLine([BARE, 'open', bareDir], /ready/, dir),
      }),
      { limit: 1.25 },
    );
    let fresh = 0;
    report(
      'first start ever',
      await compare({
        rounds: 7,
        ours: () => {
          fresh += 1;
          return untilLine([CLI, '--port', '0', '--data-dir', `first-${fresh}`], /ready at/, dir);
        },
        bare: () => {
          fresh += 1;
          return untilLine([BARE, 'load', path.join(dir, `bare-${fresh}`)], /ready/, dir);
        },
      }),
      { limit: 1.3 },
    );
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
