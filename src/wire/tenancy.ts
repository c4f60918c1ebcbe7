import type { Guest, RawSession } from '../db/raw-session.js';
import { BASELINE, type ClientState, SUPERUSER } from './client-state.js';
import { beginLife } from './life.js';
import type { Status } from './messages.js';
import { identifier, literal, query } from './own-statements.js';
import { park, unpark } from './temporary.js';

/** What a client needs of its turn, beyond what it has set. */
export interface Needs {
  /** The statement may ask who it is, or take an advisory lock. */
  identity: boolean;
  /** The statement may ask what a sequence gave last. */
  sequences: boolean;
}

/**
 * Whose session it is. The engine has one; when it passes from one client to another, what the first
 * has set is noted and taken away, and what the other had set is put back. When both have set the
 * same, as the clients of one pool do, nothing needs to be done.
 */
export class Tenancy implements Guest {
  #life: object | undefined;
  #tenant: ClientState | undefined;
  /** Of what is set in the engine. */
  #signature = BASELINE;
  #pid: number | undefined;
  /** The locks that `jobq_wire.held` names. */
  #held = '';
  /** Whether what sequences gave is kept for each client: from the first time that one asks. */
  #keepsSequences = false;
  #identifiedInTransaction = false;
  #locksStale = false;
  #ownStatements = 0;
  /** How the engine reports its settings before anything is set. */
  parameters: ReadonlyMap<string, string> = new Map();

  /**
   * @param clients all there are.
   * @param channels all that any listens on.
   * @param begun is called in each new life of the engine.
   */
  constructor(
    private readonly clients: () => Iterable<ClientState>,
    private readonly channels: () => Iterable<string>,
    private readonly begun: (raw: RawSession) => Promise<void>,
  ) {}

  get tidy(): boolean {
    const tenant = this.#tenant;
    return (
      this.#signature === BASELINE &&
      !this.#keepsSequences &&
      (tenant === undefined || (!tenant.dirty && !tenant.temporary && tenant.locks.size === 0))
    );
  }

  async leave(raw: RawSession): Promise<void> {
    if (raw.life !== this.#life) return;
    // Whoever comes next works on this session, so it must not stay as it is.
    await this.#switchTo(raw, undefined).catch((error) => raw.kill(String(error)));
  }

  /**
   * Makes the session this client's.
   * @throws DatabaseError where a setting of the startup packet cannot be set.
   */
  async enter(raw: RawSession, state: ClientState): Promise<void> {
    await this.ready(raw);
    if (this.#tenant !== state || raw.ownStatements !== this.#ownStatements) {
      if (!this.#keepsSequences) state.sequencesLost = state.wrote;
      this.#ownStatements = raw.ownStatements;
    }
    if (this.#tenant !== state || this.#locksStale) await this.#switchTo(raw, state);
    state.entered = true;
  }

  /** Makes a new life of the engine ready for clients. */
  async ready(raw: RawSession): Promise<void> {
    if (raw.life === this.#life) return;
    this.parameters = await beginLife(raw, this.channels());
    this.#life = raw.life;
    this.#tenant = undefined;
    this.#signature = BASELINE;
    this.#pid = undefined;
    this.#held = '';
    await this.begun(raw);
  }

  /** A client's RESET ALL takes the settings of this port with it. */
  wasReset(): void {
    this.#pid = undefined;
  }

  /** The advisory locks in the engine are not those that are noted. */
  locksChanged(): void {
    this.#locksStale = true;
  }

  /** Called before each statement. @param status of the transaction. */
  async provide(raw: RawSession, needs: Needs, status: Status): Promise<void> {
    if (needs.sequences && !this.#keepsSequences) {
      this.#keepsSequences = true;
      // What there is may be another client's.
      const state = this.#tenant!;
      if (state.sequencesLost || !state.wrote) await query(raw, 'discard sequences');
    }
    // In a failed transaction nothing is asked any more.
    if (!needs.identity || status === 'E') return;
    await this.#identify(raw, this.#tenant!);
    if (status === 'T') this.#identifiedInTransaction = true;
  }

  /** Called at the end of each turn. */
  turnOver(): void {
    if (!this.#identifiedInTransaction) return;
    // It may have been rolled back.
    this.#identifiedInTransaction = false;
    this.#pid = undefined;
  }

  /** The client is gone, and what it had in the session with it. */
  forget(state: ClientState): void {
    if (this.#tenant !== state) return;
    this.#tenant = undefined;
    if (state.dirty) this.#signature = UNKNOWN;
  }

  /** The settings that `state` began with stand again, where it has not set them itself since. */
  async restoreInitial(raw: RawSession, state: ClientState): Promise<void> {
    if (this.#keepsSequences) {
      await query(raw, `set jobq_wire.sequences to ${literal(state.sequences)}`);
    }
    if (state.initial.size === 0) return;
    const rows = [...state.initial].map(([name, value]) => `(${literal(name)}, ${literal(value)})`);
    await query(
      raw,
      `select pg_catalog.jobq_engine_set_config(name, value, false)
         from (values ${rows.join(', ')}) as initial (name, value)
        where not exists (select from pg_catalog.pg_settings s
                           where s.name = initial.name and s.source = 'session')`,
    );
  }

  async #switchTo(raw: RawSession, state: ClientState | undefined): Promise<void> {
    const leaving = this.#tenant;
    if (leaving !== undefined) {
      if (leaving.dirty) this.#signature = await capture(raw, leaving);
      if (this.#keepsSequences) {
        leaving.sequences = await keptSequences(raw);
        leaving.sequencesLost = false;
      }
    }
    // While it is nobody's, so that a failure half way does not leave one client's for another's.
    this.#tenant = undefined;
    const wanted = state?.signature ?? BASELINE;
    const parking = leaving?.temporary || (state?.parked.length ?? 0) > 0;
    const statements: string[] = [];
    if (parking || this.#signature !== wanted) {
      statements.push(`set session authorization ${SUPERUSER}`, 'set role none', 'reset all');
      this.#signature = BASELINE;
      this.#pid = undefined;
    }
    if (this.#locksStale || (leaving !== undefined && leaving.locks.size > 0))
      statements.push(UNLOCK);
    this.#locksStale = false;
    if (statements.length > 0) await query(raw, statements.join('; '));
    if (leaving?.temporary) await park(raw, leaving);
    if (state !== undefined) await this.#giveTo(raw, state, wanted);
    this.#tenant = state;
  }

  async #giveTo(raw: RawSession, state: ClientState, wanted: string): Promise<void> {
    if (state.parked.length > 0) await unpark(raw, state);
    const statements = [...state.locks].flatMap(([key, times]) =>
      new Array<string>(times).fill(lockAgain(key)),
    );
    if (this.#keepsSequences) {
      statements.push(
        'discard sequences',
        `set jobq_wire.sequences to ${literal(state.sequences)}`,
      );
    }
    if (statements.length > 0) await query(raw, statements.join('; '));
    if (this.#signature === wanted) return;
    this.#signature = UNKNOWN;
    await apply(raw, state);
    this.#signature = wanted;
  }

  /** Who it is, and which locks others hold: for the functions in src/db/session-functions.ts. */
  async #identify(raw: RawSession, state: ClientState): Promise<void> {
    const held = this.#heldByOthers(state);
    if (this.#pid === state.pid && this.#held === held) return;
    await query(
      raw,
      `set jobq_wire.pid to ${literal(String(state.pid))}; set jobq_wire.held to ${literal(held)}`,
    );
    this.#pid = state.pid;
    this.#held = held;
  }

  #heldByOthers(state: ClientState): string {
    const keys: string[] = [];
    for (const other of this.clients()) {
      if (other !== state) keys.push(...other.locks.keys());
    }
    return keys.length === 0 ? '' : ` ${keys.sort().join(' ')} `;
  }
}

/** Equal to no client's. */
const UNKNOWN = '';
const UNLOCK = 'select pg_catalog.jobq_engine_pg_advisory_unlock_all()';

/** @param key `b42:x`: one bigint or two integers, exclusive or shared. */
function lockAgain(key: string): string {
  const [, args, mode] = /^[bi](.*):([xs])$/.exec(key)!;
  const suffix = mode === 's' ? '_shared' : '';
  return `select pg_catalog.jobq_engine_pg_advisory_lock${suffix}(${args})`;
}

async function apply(raw: RawSession, state: ClientState): Promise<void> {
  const settings = [...state.settings].map(
    ([name, value]) =>
      `select pg_catalog.jobq_engine_set_config(${literal(name)}, ${literal(value)}, false)`,
  );
  const statements = [
    ...settings,
    ...(state.user === SUPERUSER ? [] : [`set session authorization ${identifier(state.user)}`]),
    ...(state.role === 'none' ? [] : [`set role ${identifier(state.role)}`]),
  ];
  try {
    if (statements.length > 0) await query(raw, statements.join('; '));
  } catch (error) {
    if (!state.entered) throw error;
    // One that was set and cannot be set again, such as temp_buffers: the others can.
    for (const statement of statements) await query(raw, statement).catch(() => {});
  }
}

/** Reads what the client has set. @returns its signature then. */
async function capture(raw: RawSession, state: ClientState): Promise<string> {
  const own = [...state.ownSettings].map(literal).join(', ');
  const rows = await query<{ name: string; setting: string }>(
    raw,
    `select name, setting from pg_catalog.pg_settings where source = 'session'
     union all
     select name, pg_catalog.current_setting(name, true)
       from pg_catalog.unnest(array[${own}]::text[]) as own (name)
      where pg_catalog.current_setting(name, true) is not null
     union all select ' role', pg_catalog.current_setting('role')
     union all select ' user', session_user::text`,
  );
  const settings = new Map(rows.map(({ name, setting }) => [name, setting]));
  const role = settings.get(' role')!;
  const user = settings.get(' user')!;
  settings.delete(' role');
  settings.delete(' user');
  state.capture(settings, user, role);
  return state.signature;
}

async function keptSequences(raw: RawSession): Promise<string> {
  const [row] = await query<{ kept: string | null }>(
    raw,
    'select pg_catalog.jobq_wire_sequences() as kept',
  );
  return row!.kept ?? '';
}
