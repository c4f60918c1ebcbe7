/** The role that the engine runs as. */
export const SUPERUSER = 'postgres';

/** What a client has set in its session, and must find there at its next turn. */
export class ClientState {
  /** Settings that differ from those the engine starts with. */
  #settings: ReadonlyMap<string, string>;
  #user: string = SUPERUSER;
  #role = 'none';
  #signature: string | undefined;
  /** Settings of the app's own that it has named; the engine does not list them. */
  readonly ownSettings = new Set<string>();
  /** May differ from what is noted here. */
  dirty = false;
  /** May own temporary objects. */
  temporary = false;
  /** Its temporary objects, while another client has the session. */
  parked: readonly TemporaryObject[] = [];
  /** The session's advisory locks that it holds (`b42:x`), and how often it has taken each. */
  readonly locks = new Map<string, number>();
  /** What its sequences gave last, as JSON, while others have the session. */
  sequences = '';
  /** What its sequences gave last is not known: others had the session before it was kept. */
  sequencesLost = false;
  /** May have used a sequence. */
  wrote = false;

  /** Whether it has had a turn. */
  entered = false;
  initialUser = SUPERUSER;

  /**
   * @param pid what it is told is its backend's.
   * @param initial settings of its startup packet.
   */
  constructor(
    readonly pid: number,
    readonly initial: ReadonlyMap<string, string>,
  ) {
    this.#settings = initial;
  }

  /** It is to be this role from the start. */
  begin(user: string): void {
    this.initialUser = user;
    this.capture(this.#settings, user, 'none');
  }

  get settings(): ReadonlyMap<string, string> {
    return this.#settings;
  }

  get user(): string {
    return this.#user;
  }

  get role(): string {
    return this.#role;
  }

  /** Two clients with the same one have set the same. */
  get signature(): string {
    this.#signature ??= signatureOf(this.#settings, this.#user, this.#role);
    return this.#signature;
  }

  /** Notes what the engine says is set. */
  capture(settings: ReadonlyMap<string, string>, user: string, role: string): void {
    this.#settings = settings;
    this.#user = user;
    this.#role = role;
    this.#signature = undefined;
    this.dirty = false;
  }

  locked(key: string): void {
    this.locks.set(key, (this.locks.get(key) ?? 0) + 1);
  }

  unlocked(key: string): void {
    const left = (this.locks.get(key) ?? 0) - 1;
    if (left > 0) this.locks.set(key, left);
    else this.locks.delete(key);
  }
}

export interface TemporaryObject {
  catalog: keyof typeof TEMPORARY_CATALOGS;
  oid: string;
  name: string;
}

/** The catalogs that temporary objects stand in, with their columns for name and schema. */
export const TEMPORARY_CATALOGS = {
  pg_class: { name: 'relname', schema: 'relnamespace' },
  pg_type: { name: 'typname', schema: 'typnamespace' },
  pg_proc: { name: 'proname', schema: 'pronamespace' },
} as const;

function signatureOf(settings: ReadonlyMap<string, string>, user: string, role: string): string {
  return JSON.stringify([[...settings].sort(([a], [b]) => (a < b ? -1 : 1)), user, role]);
}

/** Of a session in which nothing is set. */
export const BASELINE = signatureOf(new Map(), SUPERUSER, 'none');
