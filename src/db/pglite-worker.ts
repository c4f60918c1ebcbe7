import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { type MessagePort, workerData } from 'node:worker_threads';
import { gunzip } from 'node:zlib';
import type { Extension, PGlite, PGliteOptions } from '@electric-sql/pglite';
import { nextMessage } from './awake.js';
import { FatalDatabaseError, readResponse, simpleQuery, statusOf } from './protocol.js';

/**
 * The thread that PGlite runs in. It passes protocol messages to the engine and the answers back,
 * in order, and says so when the engine has died.
 */

export interface WorkerOptions {
  /** A directory that holds a cluster, or undefined for memory. */
  dataDir?: string;
  /** For memory: the gzipped tar file that the cluster is loaded from. */
  templatePath?: string;
}

/** What the thread needs to begin. */
export interface Start {
  options: WorkerOptions;
  /** Where it is asked, and answers. */
  port: MessagePort;
}

/** `inTransaction`: the statement belongs to a transaction that the caller will end. */
export type ToWorker =
  | { kind: 'message'; bytes: Uint8Array<ArrayBuffer>; inTransaction: boolean }
  /** For a protocol server: `open` when no ReadyForQuery is to end the answer. */
  | { kind: 'raw'; bytes: Uint8Array<ArrayBuffer>; open: boolean }
  | { kind: 'close' };

export type FromWorker =
  | { kind: 'ready' }
  /** The beginning of a long answer to a `raw` message. */
  | { kind: 'part'; bytes: Uint8Array<ArrayBuffer> }
  | { kind: 'response'; bytes: Uint8Array<ArrayBuffer> }
  /** The engine is gone. `log` holds its last words. */
  | { kind: 'died'; reason: string; log: string[] };

/** Begun before the rest is known (see pglite-warm.ts). */
const compiling = readFile(new URL(import.meta.resolve('@electric-sql/pglite/pglite.wasm'))).then(
  (bytes) => WebAssembly.compile(bytes),
);
const loading = import('@electric-sql/pglite');
// Awaited in `open`; a failure before that is met there.
compiling.catch(() => {});
loading.catch(() => {});

const given = workerData as Start | { startPort: MessagePort };
const { options, port }: Start =
  'startPort' in given ? (await once(given.startPort, 'message'))[0] : given;

/** The engine's last lines on stderr: the only place where a PANIC is explained. */
const log: string[] = [];
let fatalLogged = false;
let death: string | undefined;

/**
 * An engine that aborts throws an exception that PGlite swallows: the query would look like one
 * without rows. This hook is where it can be seen.
 */
const watchdog: Extension = {
  name: 'watchdog',
  setup: async (_pg, emscriptenOpts: Record<string, unknown>) => ({
    emscriptenOpts: {
      ...emscriptenOpts,
      onAbort: (what: unknown) => {
        death ??= `Aborted(${what ?? ''})`;
      },
    },
  }),
};

/** Given at the start and not by SET, so that RESET ALL comes back to them. */
const SETTINGS = [
  // Prepared statements are planned anew at each use: a plan kept from when the table was empty
  // would scan it from end to end when it is not.
  ...['-c', 'plan_cache_mode=force_custom_plan'],
  // A server's default, which PGlite changes.
  ...['-c', 'search_path="$user", public'],
];

/**
 * Opens the engine. What can go on at the same time does: compiling its 10 MB of WebAssembly (in
 * V8's own threads), loading its JavaScript and unpacking the template.
 */
async function open(): Promise<PGlite> {
  const unpacking = options.templatePath && unpack(options.templatePath);
  const { PGlite } = await loading;

  /** Array types are looked up for PGlite's own `query()`, which is not used: one query less. */
  class Engine extends PGlite {
    override async _initArrayTypes(): Promise<void> {}
  }
  const engineOptions: PGliteOptions = {
    startParams: [...PGlite.defaultStartParams, ...SETTINGS],
    pgliteWasmModule: await compiling,
    extensions: { watchdog },
    onStderr: (line) => {
      log.push(line);
      if (log.length > 20) log.shift();
      if (/\b(FATAL|PANIC):/.test(line)) fatalLogged = true;
      return false;
    },
    onStdout: () => false,
  };
  if (options.dataDir !== undefined) engineOptions.dataDir = options.dataDir;
  else if (unpacking) engineOptions.loadDataDir = await unpacking;
  const engine = new Engine(engineOptions);
  await engine.waitReady;
  return engine;
}

/** PGlite unpacks too, through web streams, in several times the time. */
async function unpack(templatePath: string): Promise<Blob> {
  const tar = await promisify(gunzip)(await readFile(templatePath));
  return new Blob([tar], { type: 'application/x-tar' });
}

function send(message: FromWorker): void {
  port.postMessage(message, 'bytes' in message ? [message.bytes.buffer] : []);
}

/** How much of an answer is kept before a part of it goes out. */
const PART_BYTES = 256 * 1024;
/** A ReadyForQuery; a chunk may end in the middle of it. */
const STATUS_BYTES = 6;

/**
 * Runs one message to its end: the engine is synchronous.
 * @param onPart gets the beginning of a long answer.
 * @returns the answer, or the rest of it.
 */
function run(
  engine: PGlite,
  bytes: Uint8Array,
  onPart?: (bytes: Uint8Array<ArrayBuffer>) => void,
): Uint8Array<ArrayBuffer> {
  let chunks: Uint8Array[] = [];
  let length = 0;
  engine
    .execProtocolRawStream(bytes, {
      syncToFs: false,
      onRawData: (chunk) => {
        // A view into the engine's memory, which the next chunk overwrites.
        chunks.push(chunk.slice());
        length += chunk.length;
        if (onPart === undefined || length < PART_BYTES) return;
        const whole = joined(chunks, length);
        const kept = whole.slice(-STATUS_BYTES);
        onPart(whole.slice(0, -STATUS_BYTES));
        chunks = [kept];
        length = kept.length;
      },
    })
    // Only a dead engine throws, and its answer has no end, which the caller sees. Left alone, the
    // rejection would end this thread before the reason is told.
    .catch(() => {});
  return joined(chunks, length);
}

function joined(chunks: readonly Uint8Array[], length: number): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}

/**
 * Nothing checkpoints by itself in single-user mode: the write-ahead log of a database in use grows
 * without end (measured: 50 MB for two updates of 50,000 rows, with max_wal_size = 16MB), in memory
 * or on disk. So the worker looks at it after each 100 ms of work, outside of transactions. A look
 * takes 0.1 ms, a checkpoint 2 to 40 ms.
 */
const LOOK_AFTER_MS = 100;
const CHECKPOINT_AFTER_BYTES = 16 * 1024 * 1024;
let busyMs = 0;
let checkpointAt: number | undefined;

function checkpointWhenDue(engine: PGlite): void {
  busyMs = 0;
  const { rows } = readResponse<{ bytes: string }>(
    run(engine, simpleQuery(`select pg_current_wal_insert_lsn() - '0/0'::pg_lsn as bytes`)),
  );
  const now = Number(rows[0]?.bytes);
  checkpointAt ??= now;
  if (now - checkpointAt < CHECKPOINT_AFTER_BYTES) return;
  run(engine, simpleQuery('checkpoint'));
  checkpointAt = now;
}

/** An engine that exits says FATAL first, and PGlite swallows the exit too. */
function fatalErrorIn(response: Uint8Array): string | undefined {
  fatalLogged = false;
  try {
    readResponse(response);
  } catch (error) {
    if (error instanceof FatalDatabaseError) return `${error.message} (SQLSTATE ${error.sqlstate})`;
  }
  return undefined;
}

function answer(engine: PGlite, message: Exclude<ToWorker, { kind: 'close' }>): void {
  const raw = message.kind === 'raw';
  const inTransaction = raw || message.inTransaction;
  const open = raw && message.open;
  const started = performance.now();
  const bytes = run(
    engine,
    message.bytes,
    raw ? (part) => send({ kind: 'part', bytes: part }) : undefined,
  );
  busyMs += performance.now() - started;
  const status = open ? undefined : statusOf(bytes);
  if (fatalLogged) death ??= fatalErrorIn(bytes);
  if (status === undefined && !open) death ??= 'the engine gave no complete answer';
  if (death !== undefined) {
    send({ kind: 'died', reason: death, log });
    return;
  }
  // A statement that opened a transaction and did not end it would take every later one with it.
  if (status !== 'I' && !inTransaction) run(engine, simpleQuery('rollback'));
  send({ kind: 'response', bytes });
  const openTransaction = inTransaction && status !== 'I';
  if (busyMs > LOOK_AFTER_MS && !openTransaction) checkpointWhenDue(engine);
}

function handle(engine: PGlite, message: ToWorker): void {
  if (death !== undefined) return;
  try {
    if (message.kind !== 'close') answer(engine, message);
    else void engine.close().finally(() => port.close());
  } catch (error) {
    send({ kind: 'died', reason: death ?? String(error), log });
  }
}

try {
  const engine = await open();
  port.on('message', async (first: ToWorker) => {
    for (let message: ToWorker | undefined = first; message !== undefined; ) {
      handle(engine, message);
      // The promises that the engine has made are let go of.
      await undefined;
      message = message.kind === 'raw' ? nextMessage<ToWorker>(port) : undefined;
    }
  });
  send({ kind: 'ready' });
} catch (error) {
  send({ kind: 'died', reason: death ?? String(error), log });
}
