/**
 * The Postgres port: lets an app work on PGlite through its own driver, as on any server.
 *
 * PGlite is one session. Each client has its own view of a session all the same: see tenancy.ts for
 * settings, client-names.ts for prepared statements, and docs/wire.md for what is refused.
 */
import { randomInt } from 'node:crypto';
import { createServer, type Server, type Socket } from 'node:net';
import type { PgliteDatabase } from '../db/pglite.js';
import { listenOnLoopback } from '../loopback.js';
import { AdvisoryWaits } from './advisory-waits.js';
import { Client } from './client.js';
import { ClientState } from './client-state.js';
import { Connection } from './connection.js';
import { findHidden, NOTHING_HIDDEN } from './functions-watch.js';
import { welcome } from './greeting.js';
import { Listeners } from './listeners.js';
import { errorResponse, type Report } from './messages.js';
import { SHUTTING_DOWN, STATE_LOST, TOO_MANY_CLIENTS } from './reports.js';
import { Session } from './session.js';
import type { Limits, Shared } from './shared.js';
import { readStartup, type Startup, StartupRefused } from './startup.js';
import { Tenancy } from './tenancy.js';
import { TurnQueue } from './turn-queue.js';

export const LIMITS: Limits = {
  clients: 100,
  statementMs: 60_000,
  idleInTransactionMs: 30_000,
  warnAfterMs: 5_000,
  noticeAfterMs: 1_000,
  cancelGraceMs: 250,
  startupMs: 60_000,
};

export interface WireOptions {
  db: PgliteDatabase;
  limits?: Partial<Limits>;
  /** Told to a person: what holds up the others, and what was ended. */
  warn?: (message: string) => void;
  /** Called when a client's transaction that may have written is over. */
  onWrite?: () => void;
}

/** The backend that notifies when this process itself does. */
const OWN_PID = process.pid;

export class WireServer {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #sessions = new Map<number, { session: Session; secret: number }>();
  readonly #shared: Shared;
  readonly #running = new Set<Promise<void>>();
  /** Process ids are counted up from here. */
  #lastPid = 1_000;

  constructor({ db, limits, warn = () => {}, onWrite = () => {} }: WireOptions) {
    const states = () => [...this.#sessions.values()].map(({ session }) => session.client.state);
    const listeners = new Listeners();
    const tenancy = new Tenancy(
      states,
      () => listeners.channels(),
      async (raw) => {
        this.#loseState();
        this.#shared.hidden = await findHidden(raw);
      },
    );
    this.#shared = {
      db,
      limits: { ...LIMITS, ...limits },
      tenancy,
      turns: new TurnQueue(db, tenancy),
      listeners,
      advisory: new AdvisoryWaits(states),
      hidden: NOTHING_HIDDEN,
      closing: false,
      warn,
      onWrite,
      signal: (pid, what) => {
        const session = this.#sessions.get(pid)?.session;
        if (what === 'cancel') session?.cancel();
        else session?.client.connection.terminate(SHUTTING_DOWN);
      },
    };
    db.onNotification = (notification) => listeners.deliver(notification, OWN_PID);
    this.#server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) =>
      this.#accept(socket),
    );
  }

  /**
   * Listens on the loopback interface.
   * @param port 0 for any that is free.
   * @param tries how many of the ports after a taken one are tried.
   * @returns the port.
   * @throws JobqError `port-taken`
   */
  listen(port: number, tries = 0): Promise<number> {
    const choice = { port, tries, purpose: 'for Postgres clients', flag: '--pg-port' };
    return listenOnLoopback(this.#server, choice);
  }

  /** How many clients are connected. */
  get clients(): number {
    return this.#sessions.size;
  }

  /** Ends every client and closes the port. Idempotent. */
  async close(): Promise<void> {
    this.#shared.closing = true;
    this.#shared.db.onNotification = () => {};
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const { session } of this.#sessions.values())
      session.client.connection.terminate(SHUTTING_DOWN);
    await Promise.all(this.#running);
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  #accept(socket: Socket): void {
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
    // A connection that breaks is one that closes.
    socket.on('error', () => {});
    socket.setKeepAlive(true, KEEP_ALIVE_MS);
    const late = setTimeout(() => socket.destroy(), this.#shared.limits.startupMs);
    socket.once('close', () => clearTimeout(late));
    socket.once('end', () => socket.end());
    let received: Buffer = Buffer.alloc(0);
    const read = (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      try {
        for (;;) {
          const packet = readStartup(received);
          if (packet === undefined) return;
          received = packet.rest;
          if (packet.startup.kind !== 'encryption') {
            socket.off('data', read);
            clearTimeout(late);
            this.#begin(socket, packet.startup, packet.rest);
            return;
          }
          // No TLS: nobody but this machine can reach the port. What came with the question may not
          // be taken for what comes after the answer (CVE-2021-23214).
          if (packet.rest.length > 0) throw new StartupRefused(TOO_EAGER, '08P01');
          socket.write('N');
        }
      } catch (error) {
        if (!(error instanceof StartupRefused)) throw error;
        socket.off('data', read);
        const { message, sqlstate, hint } = error;
        refuse(socket, { severity: 'FATAL', sqlstate, message, hint });
      }
    };
    socket.on('data', read);
  }

  #begin(socket: Socket, startup: Exclude<Startup, { kind: 'encryption' }>, rest: Buffer): void {
    if (startup.kind === 'cancel') {
      const found = this.#sessions.get(startup.pid);
      if (found?.secret === startup.secret) found.session.cancel();
      socket.end();
      return;
    }
    if (this.#sessions.size >= this.#shared.limits.clients) {
      refuse(socket, TOO_MANY_CLIENTS);
      return;
    }
    this.#lastPid += 1;
    const pid = this.#lastPid;
    const secret = randomInt(1, 2 ** 31 - 1);
    const connection = new Connection(socket, rest);
    connection.write(...welcome(startup.minor, startup.unknownOptions));
    const client = new Client(
      this.#shared,
      connection,
      new ClientState(pid, startup.settings),
      `${socket.remoteAddress}:${socket.remotePort}`,
    );
    const session = new Session(client, startup.user, secret);
    this.#sessions.set(pid, { session, secret });
    const running = session.run().finally(() => {
      this.#sessions.delete(pid);
      this.#running.delete(running);
    });
    this.#running.add(running);
  }

  /** A new life of the engine: what was in the old one alone is gone. */
  #loseState(): void {
    for (const { session } of this.#sessions.values()) {
      if (session.client.losesWithEngine) {
        session.client.loseWithEngine();
        session.client.connection.terminate(STATE_LOST);
      }
    }
  }
}

const KEEP_ALIVE_MS = 60_000;
const TOO_EAGER = 'received unencrypted data after SSL request';

function refuse(socket: Socket, report: Report): void {
  socket.end(errorResponse(report));
  // What it still sends is of no interest, and it is not waited for.
  socket.resume();
  socket.setTimeout(CLOSE_WITHIN_MS, () => socket.destroy());
}

const CLOSE_WITHIN_MS = 5_000;
