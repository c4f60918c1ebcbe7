import type { PgliteSession, RawOptions } from './pglite-session.js';
import { simpleQuery, statusOf } from './protocol.js';

/**
 * Another protocol server in this process, whose clients use the one session in turns. It may leave
 * settings and the like behind between its turns.
 */
export interface Guest {
  /** Whether the session is as it was found. */
  readonly tidy: boolean;
  /** Puts the session back to how it was found; called before anyone else uses it. */
  leave(raw: RawSession): Promise<void>;
}

/**
 * The session for the length of one turn, with protocol messages as they are. Whatever transaction
 * is open at the end of the turn is rolled back.
 */
export class RawSession {
  #session: PgliteSession;
  #open = false;
  #synced = true;

  /** @param ownStatements how many statements this process itself has begun so far. */
  constructor(
    session: PgliteSession,
    private readonly living: () => PgliteSession,
    readonly ownStatements: number,
  ) {
    this.#session = session;
  }

  /** One life of the engine: what was prepared or set in another is not there. */
  get life(): object {
    return this.#session;
  }

  /** Why the engine is gone, if it is. */
  get dead(): Error | undefined {
    return this.#session.dead;
  }

  /**
   * Sends whole messages: any but Startup and Terminate, and the data of a COPY together with it.
   * @returns the answer, or what `onPart` did not get of it.
   * @throws JobqError `database-unreachable` when the engine ends over it.
   */
  async send(bytes: Uint8Array, options: RawOptions = {}): Promise<Uint8Array> {
    this.#open = true;
    this.#synced = !options.open;
    // A copy: what is sent is transferred, and the caller's may be a part of a larger buffer.
    const answer = await this.#session.sendRaw(new Uint8Array(bytes), options);
    if (this.#synced) this.#open = statusOf(answer) !== 'I';
    return answer;
  }

  /** Ends the engine as a crash would. */
  kill(reason: string): Promise<void> {
    return this.#session.kill(reason);
  }

  /**
   * Goes on with a new life of the engine, within the same turn.
   * @throws JobqError when there is none, as with a database in memory.
   */
  async reopen(): Promise<void> {
    this.#session = this.living();
    this.#open = false;
    this.#synced = true;
    await this.#session.ready;
  }

  /** Called at the end of the turn. */
  async end(): Promise<void> {
    if (this.#session.dead) return;
    if (!this.#synced) await this.send(SYNC);
    if (this.#open) await this.send(simpleQuery('rollback'));
  }
}

const SYNC = Uint8Array.from([0x53, 0, 0, 0, 4]);
