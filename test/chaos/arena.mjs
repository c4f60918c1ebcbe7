// @ts-check
/**
 * Where a run takes place: a folder, a Postgres server behind a proxy with several drainers and an
 * emulator on it, and an emulator on PGlite.
 */
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { PostgresServer } from '../support/postgres-server.mjs';
import { TcpProxy } from '../support/tcp-proxy.mjs';
import { processesOf, signal } from './alive.mjs';
import { writeHandlers } from './handlers.mjs';
import { Process } from './processes.mjs';

/** Of the server: few, so that they can all be taken. */
export const MAX_CONNECTIONS = 40;
const DRAINERS = 3;

/** A folder in which jobq-dev processes work, and what their handlers tell. */
class Site {
  /** @param {string} root @param {string} name */
  constructor(root, name) {
    this.cwd = path.join(root, name);
    this.dataDir = path.join(this.cwd, '.jobq');
    this.effects = path.join(root, `${name}.effects`);
    mkdirSync(this.cwd);
    const config = {
      handlers: '../handlers',
      env: { CHAOS_EFFECTS: this.effects },
      retry: 'seconds',
      grace: '1s',
      timeout: '30s',
      concurrency: 3,
      keepJobs: 10_000_000,
    };
    writeFileSync(path.join(this.cwd, 'jobq.config.json'), JSON.stringify(config));
  }
}

export class Arena {
  /**
   * @param {{
   *   root: string, server: PostgresServer, proxy: TcpProxy, cli: string, leaseMs: number,
   *   databaseUrl: string,
   * }} parts
   */
  constructor({ root, server, proxy, cli, leaseMs, databaseUrl }) {
    this.root = root;
    this.server = server;
    this.proxy = proxy;
    this.leaseMs = leaseMs;
    this.databaseUrl = databaseUrl;
    for (const name of ['tmp', 'logs']) mkdirSync(path.join(root, name));
    writeHandlers(path.join(root, 'handlers'), leaseMs);
    /** On the server. */
    this.shared = new Site(root, 'shared');
    /** On PGlite. */
    this.local = new Site(root, 'local');

    const through = new URL(databaseUrl);
    through.port = String(proxy.port);
    const emulator = ['--port', '0', '--cron', '* * * * * *', '--lease', `${leaseMs}ms`];
    const onServer = ['--lease', `${leaseMs}ms`, '--database-url', through.href];
    /** Those on the server. */
    this.drainers = Array.from({ length: DRAINERS }, (_, index) =>
      this.#process(cli, `drainer ${index + 1}`, this.shared, ['drain', ...onServer]),
    );
    this.drainers.push(
      this.#process(cli, 'emulator', this.shared, [...emulator, '--database-url', through.href]),
    );
    this.localEmulator = this.#process(cli, 'local emulator', this.local, emulator);
  }

  /**
   * Starts everything.
   * @param {{ cli: string, leaseMs: number }} options
   */
  static async open({ cli, leaseMs }) {
    const server = await PostgresServer.start(`max_connections=${MAX_CONNECTIONS}`);
    const { proxy } = await TcpProxy.toUrl(server.url);
    const root = mkdtempSync(path.join(tmpdir(), 'jobq-chaos-'));
    const databaseUrl = await createDatabase(server.url, 'chaos');
    const arena = new Arena({ root, server, proxy, cli, leaseMs, databaseUrl });
    for (const each of arena.processes) each.start();
    return arena;
  }

  get processes() {
    return [...this.drainers, this.localEmulator];
  }

  /** Ends every process of the run at once, and removes the folder. */
  destroy() {
    for (const each of this.processes) each.destroy();
    for (const { pid } of processesOf(this.root)) signal(pid, 'SIGKILL');
    rmSync(this.root, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
  }

  /** @param {string} folder */
  keepLogs(folder) {
    cpSync(path.join(this.root, 'logs'), folder, { recursive: true });
    console.log(`what the processes said is in ${folder}`);
  }

  async close() {
    this.destroy();
    await this.proxy.goAway();
    await this.server.close();
  }

  /** @param {string} cli @param {string} name @param {Site} site @param {readonly string[]} args */
  #process(cli, name, { cwd }, args) {
    return new Process({
      name,
      cli,
      args,
      cwd,
      // A TMPDIR of its own, so that what is left there is known to be of this run.
      env: { PATH: process.env.PATH, HOME: this.root, TMPDIR: path.join(this.root, 'tmp') },
      log: path.join(this.root, 'logs', `${name}.log`),
      isEmulator: args[0] !== 'drain',
    });
  }
}

/**
 * @param {string} serverUrl
 * @param {string} name
 * @returns {Promise<string>} its URL
 */
export async function createDatabase(serverUrl, name) {
  const client = new pg.Client({ connectionString: serverUrl });
  await client.connect();
  await client.query(`create database ${name}`);
  await client.end();
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}
