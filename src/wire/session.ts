import { DatabaseError } from '../db/port.js';
import { simpleQuery } from '../db/protocol.js';
import type { RawSession } from '../db/raw-session.js';
import { type Again, MustCollect, MustWait } from './again.js';
import { prepareAhead } from './ahead.js';
import type { Client } from './client.js';
import { Terminated } from './connection.js';
import { collect } from './copy-in.js';
import { leaveNothing } from './effects.js';
import { expected, greeting, reportedNow } from './greeting.js';
import { watchIdle } from './idle-limit.js';
import { LockWait } from './lock-wait.js';
import { errorResponse, noticeResponse, type Report, readyForQuery } from './messages.js';
import { literal, query } from './own-statements.js';
import {
  CANCELLED,
  engineEnded,
  idleInTransaction,
  SETTINGS_LOST,
  TIMED_OUT,
  waitingFor,
} from './reports.js';
import { readTimeouts } from './timeouts.js';
import { Turn } from './turn.js';
import { LeftTheQueue, type Ticket } from './turn-queue.js';
import { Units } from './units.js';

/** How long a client waits for a turn before what needs none is done without. */
const WITHOUT_TURN_MS = 200;

/** Serves one client, from its welcome to its end. */
export class Session {
  readonly #units: Units;
  #ticket: Ticket | undefined;
  #lockWait: LockWait | undefined;
  #cancelled = false;
  /** The answer to what was done without a turn. */
  #ahead: Buffer[] | undefined;

  /** @param user who it says it is: a role, if there is one of that name. */
  constructor(
    readonly client: Client,
    private readonly user: string,
    private readonly secret: number,
  ) {
    const { connection, shared } = client;
    this.#units = new Units(connection);
    connection.onGone = () => {
      this.#ticket?.leave();
      this.#lockWait?.abandon();
    };
    connection.onUnread = () =>
      shared.warn(`${client.label} did not read what it had asked for, and was ended`);
  }

  async run(): Promise<void> {
    const { client } = this;
    let report: Report | undefined;
    try {
      await this.#welcome();
      for (;;) {
        const unit = await this.#units.next();
        if (unit === undefined) break;
        await this.#serve({ before: [], unit });
      }
    } catch (error) {
      report = error instanceof Terminated ? error.report : unexpected(error);
    }
    await this.#goodbye().catch((error: Error) =>
      client.shared.warn(`what ${client.label} left in the session stays there: ${error.message}`),
    );
    client.connection.end(report);
  }

  /** A cancel request, or another client's pg_cancel_backend. */
  cancel(): void {
    const { watchdog, shared } = this.client;
    if (watchdog.running) watchdog.cancel(shared.limits.cancelGraceMs);
    else if (this.#lockWait !== undefined) this.#lockWait.cancel();
    else if (this.#ticket?.leave()) this.#cancelled = true;
  }

  async #welcome(): Promise<void> {
    const { client, secret } = this;
    const { shared, connection } = client;
    const turn = shared.turns.take(client, async (raw) => {
      await this.#enter(raw);
      connection.write(...greeting(client, secret, await reportedNow(raw, client)));
    });
    // What cannot be set is told at once, unless another client has the session for long.
    const late = setTimeout(() => {
      if (shared.tenancy.parameters.size > 0) turn.leave();
    }, WITHOUT_TURN_MS);
    try {
      await turn.over;
    } catch (error) {
      if (!(error instanceof LeftTheQueue)) throw error;
      connection.write(...greeting(client, secret, expected(client)));
    } finally {
      clearTimeout(late);
    }
  }

  /** @throws Terminated when it cannot begin with what it has asked for. */
  async #enter(raw: RawSession): Promise<void> {
    const { state, shared } = this.client;
    const first = !state.entered;
    await shared.tenancy.ready(raw);
    if (first && (await roleExists(raw, this.user))) state.begin(this.user);
    try {
      await shared.tenancy.enter(raw, state);
    } catch (error) {
      if (!first || !(error instanceof DatabaseError)) throw error;
      const { sqlstate, message } = error;
      throw new Terminated({ severity: 'FATAL', sqlstate, message });
    }
    if (first && this.client.beginsWithTimeouts) {
      this.client.timeouts = await readTimeouts(raw, this.client.timeouts);
      state.dirty = true;
    }
  }

  async #serve(first: Again): Promise<void> {
    for (let next: Again | undefined = first; next !== undefined; ) {
      const now: Again = next;
      next = undefined;
      this.#cancelled = false;
      this.#ahead = undefined;
      try {
        await this.#takeTurn(now);
      } catch (error) {
        if (error instanceof MustWait) {
          this.#lockWait = new LockWait(this.client, error.key);
          const { again, report } = await this.#lockWait.over();
          this.#lockWait = undefined;
          if (again) next = error.again;
          else if (report !== undefined) this.#fail(now, report);
        } else if (error instanceof MustCollect) {
          const data = await collect(this.client.connection);
          if (data !== undefined) next = { ...now, data };
        } else if (error instanceof LeftTheQueue) {
          this.#answerWithoutTurn(now);
        } else {
          throw error;
        }
      }
    }
  }

  #answerWithoutTurn(now: Again): void {
    if (this.#cancelled) this.#fail(now, CANCELLED);
    else if (this.#ahead !== undefined)
      this.client.connection.write(...this.#ahead, readyForQuery('I'));
  }

  async #takeTurn(again: Again): Promise<void> {
    const { client } = this;
    const { turns, limits } = client.shared;
    const ticket = turns.take(client, (raw) => this.#turn(raw, again));
    this.#ticket = ticket;
    const notice = setTimeout(() => {
      const { holder } = turns;
      if (ticket.started || holder === undefined) return;
      client.connection.write(noticeResponse(waitingFor(holder.label)));
    }, limits.noticeAfterMs);
    const ahead = setTimeout(() => {
      if (ticket.started) return;
      this.#ahead = prepareAhead(again.unit, client);
      if (this.#ahead !== undefined) ticket.leave();
    }, WITHOUT_TURN_MS);
    try {
      await ticket.over;
    } finally {
      clearTimeout(notice);
      clearTimeout(ahead);
      this.#ticket = undefined;
    }
  }

  async #turn(raw: RawSession, again: Again): Promise<void> {
    const turn = new Turn(raw, this.client, {
      whileIdle: (wait) => this.#whileIdle(wait),
      skipToSync: () => {
        this.#units.skipToSync = true;
      },
    });
    await this.#enter(raw);
    try {
      await turn.repeat(again.before);
      for (let next: Omit<Again, 'before'> | undefined = again; next !== undefined; ) {
        const wasInTransaction = turn.inTransaction;
        try {
          await turn.perform(next);
        } catch (error) {
          if (raw.dead === undefined || error instanceof MustWait) throw error;
          await this.#engineEnded(turn, next.unit.open, wasInTransaction, raw.dead);
        }
        if (turn.over) return;
        const unit = await this.#whileIdle(() => this.#units.next());
        next = unit && { unit };
      }
    } finally {
      await turn.end();
    }
  }

  /** Waits for the client, which holds the session. */
  async #whileIdle<T>(wait: () => Promise<T>): Promise<T> {
    const { shared, timeouts, label, connection } = this.client;
    const { turns, limits } = shared;
    const stop = watchIdle({
      ownMs: timeouts.idleInTransaction,
      limits,
      waiting: () => turns.waiting,
      warn: (ms) =>
        shared.warn(
          `${label} has an open transaction and has done nothing for ${ms} ms, and ${turns.waiting} wait for it`,
        ),
      end: (ms) => {
        shared.warn(
          `${label} was ended: it had left a transaction open for ${ms} ms while others waited`,
        );
        connection.terminate(idleInTransaction(ms, turns.waiting));
      },
    });
    try {
      return await wait();
    } finally {
      stop();
    }
  }

  /** The engine ended over a statement of this client: it was stopped, or brought the engine down. */
  async #engineEnded(
    turn: Turn,
    open: boolean,
    wasInTransaction: boolean,
    reason: Error,
  ): Promise<void> {
    const { watchdog, shared, label, state, connection } = this.client;
    if (watchdog.stopped === undefined) {
      const why = reason.cause instanceof Error ? reason.cause.message : reason.message;
      shared.warn(`${label}: a statement ended the database engine: ${why}`);
      throw new Terminated(engineEnded(why));
    }
    const report = watchdog.stopped === 'timeout' ? TIMED_OUT : CANCELLED;
    // What it had set since it last gave the session away is known to nobody.
    if (state.dirty) throw new Terminated({ ...report, ...SETTINGS_LOST });
    connection.write(errorResponse(report));
    if (wasInTransaction) {
      await turn.raw.reopen();
      await this.#enter(turn.raw);
      await failTransaction(turn.raw);
    }
    turn.engineLost(wasInTransaction ? 'E' : 'I');
    this.#endUnit(open, turn.status);
  }

  /** Answers a unit that has not got its turn. */
  #fail({ unit }: Again, report: Report): void {
    this.client.connection.write(errorResponse(report));
    this.#endUnit(unit.open, 'I');
  }

  /** After an error of ours: the rest of an open pipeline is passed over. */
  #endUnit(open: boolean, status: Turn['status']): void {
    if (open) this.#units.skipToSync = true;
    else this.client.connection.write(readyForQuery(status));
  }

  async #goodbye(): Promise<void> {
    const { client } = this;
    const { state, shared, names, subscriptions } = client;
    subscriptions.stop();
    const leavesTraces =
      state.temporary || state.parked.length > 0 || state.locks.size > 0 || !names.empty;
    if (state.entered && leavesTraces && !shared.closing) {
      await shared.turns.take(client, (raw) => leaveNothing(raw, client)).over;
    }
    state.locks.clear();
    shared.advisory.released();
    shared.tenancy.forget(state);
  }
}

async function roleExists(raw: RawSession, user: string): Promise<boolean> {
  const sql = `select 1 as one from pg_catalog.pg_roles where rolname = ${literal(user)}`;
  return (await query(raw, sql)).length > 0;
}

/** Begins a transaction that has failed, in place of one that was lost. */
async function failTransaction(raw: RawSession): Promise<void> {
  await raw.send(simpleQuery('begin'));
  await raw.send(simpleQuery('jobq_stopped'));
}

function unexpected(error: unknown): Report {
  const message = error instanceof Error ? error.message : String(error);
  return { severity: 'FATAL', sqlstate: 'XX000', message };
}
