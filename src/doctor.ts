/** What works on this machine, and what to do about what does not. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Config } from './config.js';
import { examine } from './db/examine.js';
import { readOwner } from './db/lock.js';
import { migrate, pendingMigrations } from './db/migrate.js';
import { openDatabase } from './db/open.js';
import type { Database } from './db/port.js';
import { findHandler, type Handler, knownKinds } from './drain/handler.js';
import { JobqError } from './errors.js';
import { formatDuration } from './job/duration.js';
import { plural } from './job/text.js';
import { createProcessProvider } from './sandbox/process/index.js';
import { resolveProgram } from './sandbox/process/interpreter.js';
import { checkQemu } from './sandbox/qemu/index.js';
import { VERSION } from './version.js';

export interface Finding {
  what: string;
  /** `note`: works, but a person should know. */
  state: 'ok' | 'note' | 'bad';
  found: string;
  /** What to do about it. */
  todo?: string;
}

/** Looks at everything; no finding keeps the next from being looked for. */
export async function checkUp(config: Config): Promise<Finding[]> {
  return [
    { what: 'jobq-dev', state: 'ok', found: `${VERSION} on node ${process.versions.node}` },
    {
      what: 'configuration',
      state: 'ok',
      found: config.file ?? 'the defaults (there is no jobq.config.json here)',
    },
    ...(await checkDatabase(config)),
    ...(await checkHandlers(config)),
    ...(await checkSandboxes(config)),
  ];
}

async function checkDatabase(config: Config): Promise<Finding[]> {
  if (config.databaseUrl !== undefined) return [await checkServer(config.databaseUrl)];
  if (config.memory) {
    return [{ what: 'database', state: 'note', found: 'in memory: nothing is kept' }];
  }
  const limits: Finding[] = [
    {
      what: 'durability',
      state: 'note',
      found:
        'a crash or kill of jobq-dev loses nothing it has acknowledged; a power cut can, since PGlite does not fsync',
    },
    {
      what: 'contention',
      state: 'note',
      found: 'PGlite is one session, so it never shows several drainers racing for a job',
      todo: 'Where that matters, use a server: --database-url postgres://…',
    },
  ];
  const owner = existsSync(config.dataDir) ? await readOwner(config.dataDir) : undefined;
  if (owner !== undefined) {
    const found = `in use by ${owner.command} (pid ${owner.pid} since ${owner.startedAt})`;
    return [{ what: 'database', state: 'ok', found }, ...limits];
  }
  if (!existsSync(path.join(config.dataDir, 'pgdata'))) {
    const found = `none yet; the first start makes it in ${config.dataDir}`;
    return [{ what: 'database', state: 'ok', found }, ...limits];
  }
  const local = await tryTo('database', async () => {
    const { db, lock } = await openDatabase({
      dataDir: config.dataDir,
      command: 'jobq-dev doctor',
    });
    try {
      await migrate(db);
      await examine(db);
      return {
        state: 'ok',
        found: `${await versionOf(db)} in ${config.dataDir}; every row was read`,
      };
    } finally {
      await db.close();
      await lock?.release();
    }
  });
  return [local, ...limits];
}

function checkServer(databaseUrl: string): Promise<Finding> {
  return tryTo('database', async () => {
    const { db } = await openDatabase({ databaseUrl, command: 'jobq-dev doctor' });
    try {
      const found = `${await versionOf(db)} at ${db.location}`;
      const pending = await pendingMigrations(db);
      if (pending.length === 0) return { state: 'ok', found };
      return {
        state: 'note',
        found: `${found}, lacking ${pending.length} migrations`,
        todo: 'jobq-dev migrate applies them, jobq-dev migrate --print shows them.',
      };
    } finally {
      await db.close();
    }
  });
}

async function versionOf(db: Database): Promise<string> {
  const { rows } = await db.query<{ version: string }>('show server_version');
  const version = Object.values(rows[0] ?? {})[0];
  return `${db.driver === 'pglite' ? 'PGlite, Postgres' : 'Postgres'} ${version}`;
}

async function checkHandlers(config: Config): Promise<Finding[]> {
  const what = 'handlers';
  if (!existsSync(config.handlers)) {
    const found = `there is no directory ${config.handlers}`;
    return [{ what, state: 'note', found, todo: 'jobq-dev init makes one with examples.' }];
  }
  const kinds = await knownKinds(config.handlers);
  const findings: Finding[] = [
    {
      what,
      state: kinds.length > 0 ? 'ok' : 'note',
      found: `${plural(kinds.length, 'kind')} in ${config.handlers}${kinds.length > 0 ? `: ${kinds.join(', ')}` : ''}`,
    },
  ];
  for (const kind of kinds) {
    const handler = await findHandler(config.handlers, kind, config.interpreters);
    const problem = 'reason' in handler ? handler.reason : unrunnable(handler);
    if (problem !== undefined) {
      findings.push({ what: `handler ${kind}`, state: 'bad', found: problem });
    }
  }
  return findings;
}

function unrunnable({ dir, script, interpreter }: Handler): string | undefined {
  const program = resolveProgram({ interpreter, script, args: [], env: {} }, dir);
  return 'message' in program ? program.message : undefined;
}

async function checkSandboxes(config: Config): Promise<Finding[]> {
  const dirs = {
    workDir: path.join(config.dataDir, 'work'),
    journalDir: path.join(config.dataDir, 'journal'),
  };
  const plain = await tryTo('sandbox process', async () => {
    const provider = await createProcessProvider({ ...dirs, namespaces: 'auto' });
    try {
      const { isolation, memory, containment } = provider.enforces;
      const { mode, reason, bubblewrap } = provider.info;
      return {
        state: mode === 'warden' ? 'ok' : 'note',
        found: `no isolation; no leftovers by ${containment}; memory limit: ${memory}; bubblewrap: ${isolation === 'namespaces' ? 'working (--namespaces auto: namespaces, no hardware boundary)' : bubblewrap}`,
        ...(mode === 'direct' && { todo: `${reason}: install perl for complete clean-up.` }),
      };
    } finally {
      await provider.close();
    }
  });
  return [plain, await checkMicroVm(config), checkPandastack(config)];
}

async function checkMicroVm({ sandbox, vmKernel }: Config): Promise<Finding> {
  const what = 'sandbox qemu';
  // What nobody asked for by name may be missing.
  const lacking = sandbox === 'qemu' ? 'bad' : 'note';
  const { impossible, install, qemuVersion, kernel, hardware, lastBootMs } =
    await checkQemu(vmKernel);
  if (impossible !== undefined) {
    return { what, state: lacking, found: impossible.message, todo: impossible.hint! };
  }
  if (install !== undefined) {
    return { what, state: lacking, found: 'lacks programs', todo: `Install with: ${install}` };
  }
  const todo = 'jobq-dev sandbox build makes the rest.';
  if (kernel === undefined) {
    return { what, state: lacking, found: `${qemuVersion}; no kernel for microVMs yet`, todo };
  }
  const enforced = 'microVM; memory limit: in the machine; no network';
  const how = hardware.works
    ? `KVM, a guest booted in ${formatDuration(hardware.bootMs ?? 0)}`
    : `software emulation, many times slower (${hardware.reason})`;
  const found = `${enforced}; ${qemuVersion}, kernel ${kernel}; ${how}`;
  if (lastBootMs === undefined)
    return { what, state: 'note', found: `${found}; no image yet`, todo };
  return {
    what,
    state: hardware.works ? 'ok' : 'note',
    found: `${found}; the last machine was ready after ${formatDuration(lastBootMs)}`,
  };
}

/** Nothing is asked of the service: a sandbox costs money. */
function checkPandastack({ sandbox, pandastack }: Config): Finding {
  const what = 'sandbox pandastack';
  const enforced = 'hosted microVM; memory limit: none (its template has one); network: its own';
  if (pandastack.key !== undefined) {
    return { what, state: 'ok', found: `${enforced}; PANDASTACK_API_KEY is set` };
  }
  return {
    what,
    state: sandbox === 'pandastack' ? 'bad' : 'note',
    found: `${enforced}; PANDASTACK_API_KEY is not set`,
    todo: 'Set PANDASTACK_API_KEY (and PANDASTACK_API for a service of your own).',
  };
}

async function tryTo(what: string, look: () => Promise<Omit<Finding, 'what'>>): Promise<Finding> {
  try {
    return { what, ...(await look()) };
  } catch (error) {
    if (!(error instanceof JobqError)) throw error;
    return {
      what,
      state: 'bad',
      found: error.message,
      ...(error.hint !== undefined && { todo: error.hint }),
    };
  }
}
