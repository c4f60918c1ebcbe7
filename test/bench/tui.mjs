/** What the screen costs: a drain with it against one without, frames in a burst, and idle. */
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { cpuSeconds, pause } from './life.mjs';
import { compare, report, timed } from './measure.mjs';

const CLI = fileURLToPath(new URL('../../dist/src/cli.js', import.meta.url));
const SOCKET = `jobq-bench-${process.pid}`;
const ROUNDS = 5;
const JOBS_A_ROUND = 400;
const IDLE_SECONDS = 30;
const NEVER = ['--cron', '0 0 1 1 *', '--port', '0'];
/** What the screen writes before each frame. */
const FRAME = /\u001b\[\?2026h/g;

const tmux = (...args) =>
  execFileSync('tmux', ['-L', SOCKET, '-f', '/dev/null', ...args], { encoding: 'utf8' });

/** A folder with a handler that does nothing, and an emulator in it. */
function folder(name, parent) {
  const dir = path.join(parent, name);
  mkdirSync(path.join(dir, 'handlers'), { recursive: true });
  writeFileSync(path.join(dir, 'handlers/nothing'), '#!/bin/true\n', { mode: 0o755 });
  return dir;
}

const jobq = (cwd, ...args) =>
  execFileSync(process.execPath, [CLI, ...args], { cwd, stdio: ['ignore', 'pipe', 'inherit'] });

/** Waits until `look` finds something. */
async function until(look) {
  for (;;) {
    const found = look();
    if (found) return found;
    await pause(50);
  }
}

async function withScreen(cwd) {
  const { CI: _ci, ...env } = process.env;
  execFileSync(
    'tmux',
    ['-L', SOCKET, '-f', '/dev/null', 'new-session', '-d', '-x', '120', '-y', '40'].concat([
      process.execPath,
      CLI,
      ...NEVER,
    ]),
    { cwd, env },
  );
  await until(() => tmux('capture-pane', '-p').includes('what happened'));
  await until(() => tmux('capture-pane', '-p').includes('pending'));
  return Number(tmux('list-panes', '-F', '#{pane_pid}'));
}

async function withoutScreen(cwd) {
  const child = spawn(process.execPath, [CLI, ...NEVER], {
    cwd,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.on('data', (chunk) => {
    text += chunk;
  });
  await until(() => /ready at/.test(text));
  return child;
}

const insert = (dir) => jobq(dir, 'enqueue', 'nothing', '--count', String(JOBS_A_ROUND));
const drain = (dir) => timed(async () => jobq(dir, 'drain'));

export async function tui() {
  const parent = mkdtempSync(path.join(tmpdir(), 'jobq-bench-'));
  const dirs = { seen: folder('seen', parent), unseen: folder('unseen', parent) };
  const screen = await withScreen(dirs.seen);
  const plain = await withoutScreen(dirs.unseen);
  try {
    await idle(screen, plain.pid);
    const raw = path.join(parent, 'raw');
    tmux('pipe-pane', `cat > ${raw}`);
    let seenMs = 0;
    const times = await compare({
      rounds: ROUNDS,
      ours: async () => {
        insert(dirs.seen);
        const ms = await drain(dirs.seen);
        seenMs += ms;
        return ms;
      },
      bare: async () => {
        insert(dirs.unseen);
        return drain(dirs.unseen);
      },
    });
    tmux('pipe-pane');
    report(`a drain of ${JOBS_A_ROUND} jobs with the screen against one without`, times, {
      limit: 1.1,
    });
    const frames = readFileSync(raw, 'utf8').match(FRAME)?.length ?? 0;
    const rate = frames / (seenMs / 1_000);
    console.log(
      `${rate <= 10 ? 'ok  ' : 'OVER'} frames a second in a burst: ${rate.toFixed(1)} (asked: ≤ 10; ${frames} frames)`,
    );
  } finally {
    tmux('kill-server');
    plain.kill('SIGKILL');
    await new Promise((resolve) => plain.on('close', resolve));
    rmSync(parent, { recursive: true, force: true });
  }
}

/** Both at the same time, so that they meet the same machine. */
async function idle(screen, plain) {
  await pause(3_000);
  const before = { screen: cpuSeconds(screen), plain: cpuSeconds(plain) };
  await pause(IDLE_SECONDS * 1_000);
  const share = (pid, from) => ((cpuSeconds(pid) - from) / IDLE_SECONDS) * 100;
  const [ours, bare] = [share(screen, before.screen), share(plain, before.plain)];
  const cost = ours - bare;
  console.log(
    `${cost < 1 ? 'ok  ' : 'OVER'} an idle screen: ${cost.toFixed(2)} % of a core (asked: < 1; ${ours.toFixed(2)} % with it, ${bare.toFixed(2)} % without)`,
  );
}
