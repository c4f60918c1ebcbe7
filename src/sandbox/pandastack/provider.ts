/** The pandastack provider: each attempt in a sandbox of the service that production uses. */
import { randomBytes } from 'node:crypto';
import { JobqError } from '../../errors.js';
import type { Enforcement, Sandbox, SandboxProvider, SandboxSpec } from '../port.js';
import { asUnavailable, PandastackApi } from './api.js';
import { endRemoteLeftovers, RemoteJournal } from './journal.js';
import type { PollTimes } from './run.js';
import { PandastackSandbox, type RemoteHost } from './sandbox.js';

export interface PandastackOptions {
  /** Absolute. */
  journalDir: string;
  /** The service; default: `PANDASTACK_API`. */
  url: string | undefined;
  key: string | undefined;
  /** What sandboxes are made of. */
  template: string;
  times?: Partial<PollTimes> & { firstRetryMs?: number };
}

const DEFAULT_URL = 'https://api.pandastack.ai';
const TIMES: PollTimes = { firstMs: 50, mostMs: 1_000, absentMs: 10_000, silentMs: 60_000 };
/**
 * The service ends what it takes for idle. Counted from the last request, which polls are; so it is
 * what a sandbox lives on after jobq-dev has died.
 */
const IDLE_SECONDS = 120;

/**
 * First ends what an earlier crash has left at the service.
 * @throws JobqError `sandbox-unavailable`
 */
export async function createPandastackProvider(
  options: PandastackOptions,
): Promise<SandboxProvider> {
  const { key, journalDir, times = {} } = options;
  if (key === undefined || key === '') {
    throw new JobqError(
      'sandbox-unavailable',
      'the sandbox provider "pandastack" needs a key',
      'Set PANDASTACK_API_KEY, and PANDASTACK_API for a service of your own.',
    );
  }
  const url = (options.url || DEFAULT_URL).replace(/\/+$/, '');
  const { firstRetryMs, ...polls } = times;
  const api = new PandastackApi({ url, key, ...(firstRetryMs !== undefined && { firstRetryMs }) });
  try {
    await endRemoteLeftovers(journalDir, url, (sandbox) => api.remove(sandbox));
  } catch (error) {
    throw asUnavailable('what an earlier run left at PandaStack could not be ended', error);
  }
  const id = `${process.pid}-${randomBytes(6).toString('hex')}`;
  const journal = await RemoteJournal.open(journalDir, id, url);
  return new Provider(api, journal, { ...TIMES, ...polls }, options.template, url);
}

class Provider implements SandboxProvider, RemoteHost {
  readonly name = 'pandastack';
  readonly description: string;
  readonly enforces: Enforcement = {
    isolation: 'microvm',
    // That of the template's machine, which cannot be asked for.
    memory: 'none',
    network: 'host',
    containment: 'machine',
    separateStderr: true,
  };
  readonly #sandboxes = new Set<PandastackSandbox>();
  readonly #making = new Set<Promise<unknown>>();
  #closing: Promise<void> | undefined;

  constructor(
    readonly api: PandastackApi,
    readonly journal: RemoteJournal,
    readonly times: PollTimes,
    readonly template: string,
    url: string,
  ) {
    this.description = `pandastack (microVM at ${new URL(url).host})`;
  }

  async create(spec: SandboxSpec): Promise<Sandbox> {
    const making = this.#create(spec);
    this.#making.add(making);
    try {
      return await making;
    } finally {
      this.#making.delete(making);
    }
  }

  async release(sandbox: PandastackSandbox): Promise<void> {
    this.#sandboxes.delete(sandbox);
    await this.#remove(sandbox.id);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #create(spec: SandboxSpec): Promise<Sandbox> {
    if (this.#closing) throw shuttingDown();
    let id: string | undefined;
    try {
      const metadata = { tool: 'jobq-dev', label: spec.label };
      id = await this.api.create({ template: this.template, ttl_seconds: IDLE_SECONDS, metadata });
      await this.journal.add(id);
      const sandbox = new PandastackSandbox(id, spec, this);
      await sandbox.prepare();
      if (this.#closing) throw shuttingDown();
      this.#sandboxes.add(sandbox);
      return sandbox;
    } catch (error) {
      if (id !== undefined) await this.#remove(id);
      throw asUnavailable(`no sandbox for ${spec.label}`, error);
    }
  }

  /** What cannot be removed now is so at the next start, or ends by itself when it is idle. */
  async #remove(id: string): Promise<void> {
    await this.api.remove(id).then(
      () => this.journal.remove(id),
      () => {},
    );
  }

  async #close(): Promise<void> {
    await Promise.allSettled(this.#making);
    await Promise.all([...this.#sandboxes].map((sandbox) => sandbox.kill()));
    await this.journal.close();
  }
}

function shuttingDown(): JobqError {
  return new JobqError('sandbox-unavailable', 'jobq-dev is shutting down');
}
