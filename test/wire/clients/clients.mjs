/** The clients that docs/wire.md lists, how each is found here, and how its program is run. */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { STEPS } from './steps.mjs';

const HERE = dirname(fileURLToPath(import.meta.url));
const ROOT = join(HERE, '../../..');
const PRISMA = join(HERE, 'prisma');
/** Debian's own, which sees Debian's packages. */
const PYTHON = existsSync('/usr/bin/python3') ? '/usr/bin/python3' : 'python3';
const RUBY = existsSync('/usr/bin/ruby') ? '/usr/bin/ruby' : 'ruby';
const JDBC = '/usr/share/java/postgresql.jar';

const said = (program, args) => {
  const { status, stdout } = spawnSync(program, args, { encoding: 'utf8' });
  return status === 0 ? stdout.trim() : undefined;
};
const number = (text) => /\d+(?:\.\d+)+/.exec(text ?? '')?.[0];
const versionOf = (folder, name) =>
  JSON.parse(readFileSync(join(folder, 'node_modules', name, 'package.json'), 'utf8')).version;
const without = (step) => {
  const { [step]: _, ...others } = STEPS;
  return others;
};
const npm = (name, file) => ({
  name,
  from: 'npm',
  version: () => versionOf(ROOT, name),
  command: (url, prefix) => [process.execPath, join(HERE, file), url, prefix],
});
const python = (name, module, file) => ({
  name,
  from: 'Debian',
  version: () => number(said(PYTHON, ['-c', `import ${module}; print(${module}.__version__)`])),
  command: (url, prefix) => [PYTHON, join(HERE, file), url, prefix],
});

/** `version` gives undefined where the client is not installed. */
export const CLIENTS = [
  npm('pg', 'pg.mjs'),
  { ...npm('postgres', 'postgres-js.mjs'), name: 'postgres.js' },
  npm('kysely', 'kysely.mjs'),
  {
    name: 'Prisma',
    from: 'npm run wire:prisma',
    version: () =>
      existsSync(join(PRISMA, 'generated')) ? versionOf(PRISMA, 'prisma') : undefined,
    command: (url, prefix) => [process.execPath, join(PRISMA, 'client.mjs'), url, prefix],
    // It has no LISTEN.
    steps: without('listen'),
  },
  {
    name: 'psql',
    from: 'Debian',
    version: () => number(said('psql', ['--version'])),
    command: (url, prefix) => ['sh', join(HERE, 'psql.sh'), url, prefix],
  },
  {
    name: 'pgbench',
    from: 'Debian',
    version: () => number(said('pgbench', ['--version'])),
    command: (url, prefix) => ['sh', join(HERE, 'pgbench.sh'), url, prefix],
    steps: {
      fill: 'makes and fills its tables (-i)',
      simple: 'its transactions with 4 clients, -M simple',
      extended: '-M extended',
      prepared: '-M prepared',
    },
  },
  python('psycopg2', 'psycopg2', 'psycopg2_client.py'),
  python('psycopg 3', 'psycopg', 'psycopg3_client.py'),
  python('asyncpg', 'asyncpg', 'asyncpg_client.py'),
  {
    name: 'ruby-pg',
    from: 'Debian',
    version: () => said(RUBY, ['-r', 'pg', '-e', 'puts PG::VERSION']),
    command: (url, prefix) => [RUBY, join(HERE, 'ruby_pg.rb'), url, prefix],
  },
  {
    name: 'JDBC',
    from: 'Debian',
    version: () =>
      existsSync(JDBC) && said('javac', ['-version']) !== undefined
        ? number(
            said('unzip', ['-p', JDBC, 'META-INF/MANIFEST.MF'])?.match(
              /^Implementation-Version: .*/m,
            )?.[0],
          )
        : undefined,
    command: (url, prefix) => ['java', '-cp', JDBC, join(HERE, 'Jdbc.java'), url, prefix],
  },
].map((client) => ({ steps: STEPS, ...client }));

/**
 * Runs one client's program.
 * @returns for each step nothing, or why it failed.
 */
export async function runClient(client, url) {
  const prefix = client.name.toLowerCase().replace(/\W+/g, '_');
  const [program, ...args] = client.command(url, `c_${prefix}`);
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let out = '';
  let err = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text) => {
    err += text;
  });
  await new Promise((resolve) => child.on('close', resolve));
  const found = {};
  for (const step of Object.keys(client.steps)) {
    const line = out.split('\n').find((text) => new RegExp(`^(not )?ok ${step}\\b`).test(text));
    if (line === undefined) found[step] = `no word of it; ${err.trim().split('\n').at(-1)}`;
    else if (line.startsWith('not')) found[step] = line.slice(line.indexOf(':') + 2);
  }
  return found;
}
