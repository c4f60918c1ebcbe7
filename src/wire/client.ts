import type { RawOptions } from '../db/pglite-session.js';
import { readNotification } from '../db/protocol.js';
import type { RawSession } from '../db/raw-session.js';
import { SAID } from '../db/session-functions.js';
import { ClientNames } from './client-names.js';
import type { ClientState } from './client-state.js';
import type { Connection } from './connection.js';
import { notificationResponse } from './messages.js';
import type { Shared } from './shared.js';
import type { Effect } from './statement.js';
import { Subscriptions } from './subscriptions.js';
import { NO_TIMEOUTS, type Timeouts } from './timeouts.js';
import { Watchdog } from './watchdog.js';

/** What one client has in the session, and what its turns change of it. */
export class Client {
  readonly names: ClientNames;
  readonly subscriptions: Subscriptions;
  readonly watchdog: Watchdog;
  timeouts: Timeouts = NO_TIMEOUTS;
  /** A function has set one, which its statement need not show. */
  timeoutsSaid = false;
  /** Names that the engine is to forget at the end of the turn. */
  readonly garbage: string[] = [];
  #applicationName: string;
  /** What it knows of the settings that are reported. */
  readonly #told = new Map<string, string>();

  /** @param address where it comes from, for people. */
  constructor(
    readonly shared: Shared,
    readonly connection: Connection,
    readonly state: ClientState,
    private readonly address: string,
  ) {
    this.names = new ClientNames(state.pid);
    this.subscriptions = new Subscriptions(shared.listeners, connection);
    this.#applicationName = state.initial.get('application_name') ?? '';
    this.watchdog = new Watchdog(shared.db.location === 'memory', (why) =>
      shared.warn(
        `${this.label}: a statement ${why === 'timeout' ? 'runs over its limit' : 'was cancelled'}, and goes on: stopping it would lose the database, which is in memory`,
      ),
    );
  }

  /** How a person knows it. */
  get label(): string {
    return this.#applicationName === ''
      ? `the client at ${this.address}`
      : `"${this.#applicationName}" at ${this.address}`;
  }

  /** Whether its startup packet has set a timeout. */
  get beginsWithTimeouts(): boolean {
    return [...this.state.initial.keys()].some((name) => name.endsWith('_timeout'));
  }

  /** Whether it has something that the engine alone holds. */
  get losesWithEngine(): boolean {
    const { state, names } = this;
    return state.temporary || state.parked.length > 0 || names.cursors.length > 0;
  }

  loseWithEngine(): void {
    this.state.temporary = false;
    this.state.parked = [];
    this.names.closed(undefined);
  }

  /** Sends what the client has sent, within the client's limit and the port's. */
  send(raw: RawSession, bytes: Uint8Array, options: RawOptions): Promise<Uint8Array> {
    const own = this.timeouts.statement;
    const { statementMs } = this.shared.limits;
    const limitMs = own > 0 ? Math.min(own, statementMs) : statementMs;
    return this.watchdog.send(raw, bytes, { ...options, limitMs });
  }

  /** @returns whether no statement of ours is needed for it. */
  applyAtOnce(effect: Effect, life: object): boolean {
    const { names, subscriptions } = this;
    switch (effect.kind) {
      case 'prepare':
        names.keep(effect.name, effect.engineName, effect.sql, life);
        return true;
      case 'deallocate': {
        const gone = effect.name === undefined ? names.clear() : names.take(effect.name);
        this.garbage.push(...gone.map(({ engineName }) => engineName));
        return true;
      }
      case 'listen':
      case 'unlisten':
        subscriptions.change(effect);
        return true;
      case 'declare':
        names.declared(effect.name, effect.engineName);
        return true;
      case 'close':
        names.closed(effect.name);
        return true;
      default:
        return false;
    }
  }

  /** What a function of the port has said (src/db/session-functions.ts). */
  said(code: string, text: string): void {
    const { state, shared } = this;
    switch (code) {
      case SAID.set:
        state.dirty = true;
        if (text.includes('.')) state.ownSettings.add(text);
        if (/_timeout$/i.test(text)) this.timeoutsSaid = true;
        break;
      case SAID.locked:
        state.locked(text);
        break;
      case SAID.unlocked:
        state.unlocked(text);
        shared.advisory.released();
        break;
      case SAID.unlockedAll:
        state.locks.clear();
        shared.advisory.released();
        break;
      case SAID.cancel:
      case SAID.terminate:
        shared.signal(Number(text), code === SAID.cancel ? 'cancel' : 'terminate');
        break;
    }
  }

  /** The engine reports a setting. @returns whether that is news to the client. */
  reported(name: string, value: string): boolean {
    if (this.#told.get(name) === value) return false;
    this.#told.set(name, value);
    if (name === 'application_name') this.#applicationName = value;
    return true;
  }

  /** The locks are what they were; the engine learns of it when the next turn begins. */
  takeBackLocks(before: ReadonlyMap<string, number>): void {
    const { locks } = this.state;
    const same =
      locks.size === before.size && [...locks].every(([key, n]) => before.get(key) === n);
    if (same) return;
    locks.clear();
    for (const [key, times] of before) locks.set(key, times);
    this.shared.tenancy.locksChanged();
    this.shared.advisory.released();
  }

  /** @returns what it gets itself of a notification that its turn has made. */
  notified(body: Buffer): Buffer | undefined {
    const { shared, subscriptions, state } = this;
    const notification = readNotification(body, 0);
    shared.listeners.deliver(notification, state.pid, subscriptions);
    const { channel, payload } = notification;
    return subscriptions.hears(channel)
      ? notificationResponse(state.pid, channel, payload)
      : undefined;
  }
}
