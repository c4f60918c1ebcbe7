/**
 * Holds real statements of real backends at named points, for as long as a test wants, without a hook
 * in the product: triggers that the test installs wait there for an advisory lock which a connection
 * of the stage holds. Whether a backend waits, and for whom, is asked of the server.
 */
import pg from 'pg';
import type { Database } from '#src/db/port.js';
import { openPostgres } from '#src/db/postgres.js';

/**
 * - `change`: a row of jobs is locked and is about to change (each row that changes comes here)
 * - `commit`: the statement has done everything, and nobody can see it yet
 * - `index`: a migration has created a table and an index of it
 */
export type Point = 'change' | 'commit' | 'index';

/** An advisory lock (class, actor's number) for each actor. */
const GATES = 7_001;

const GATE = `
create function gate(point text) returns void language plpgsql as $$
begin
  if current_setting('stage.pause_at', true) = point then
    perform pg_advisory_xact_lock_shared(${GATES}, current_setting('stage.actor')::int);
  end if;
end $$;`;

/** For a migrated database. */
export const GATES_OF_JOBS = `
create function wait_at_gate() returns trigger language plpgsql as $$
begin
  perform gate(TG_ARGV[0]);
  return case when TG_OP = 'DELETE' then old else new end;
end $$;
create trigger gate_at_change before insert or update or delete on jobs
  for each row execute function wait_at_gate('change');
create constraint trigger gate_at_commit after insert or update or delete on jobs
  deferrable initially deferred for each row execute function wait_at_gate('commit');`;

/** For any database. */
export const GATES_OF_MIGRATIONS = `
create function wait_at_ddl() returns event_trigger language plpgsql as $$
begin
  if TG_TAG = 'CREATE INDEX' then perform gate('index'); end if;
end $$;
create event trigger gate_at_ddl on ddl_command_end execute function wait_at_ddl();`;

/** Longer than any backend takes to reach a lock: a statement that gets there later never will. */
const PATIENCE_MS = 20_000;
/** Longer than any statement takes that waits for nobody. */
const NO_WAIT_MS = 5_000;

export class Stage {
  readonly #url: string;
  /** Holds the gates. */
  readonly #keeper: pg.Client;
  readonly #actors: Actor[] = [];

  private constructor(
    url: string,
    /** For what is not to be held anywhere; nor may it wait for anybody. */
    readonly db: Database,
    keeper: pg.Client,
  ) {
    this.#url = url;
    this.#keeper = keeper;
  }

  /** @param gates the triggers that hold statements; given for a new database only. */
  static async open(databaseUrl: string, gates?: string): Promise<Stage> {
    const url = new URL(databaseUrl);
    url.searchParams.set('options', `-c statement_timeout=${NO_WAIT_MS}`);
    const db = await openPostgres({ databaseUrl: url.href });
    if (gates !== undefined) await db.exec(GATE + gates);
    const keeper = new pg.Client({
      connectionString: databaseUrl,
      application_name: nameOf(KEEPER),
    });
    await keeper.connect();
    return new Stage(databaseUrl, db, keeper);
  }

  async close(): Promise<void> {
    await this.#keeper.end();
    await Promise.all(this.#actors.map(({ db }) => db.close()));
    await this.db.close();
  }

  /**
   * One more connection.
   * @param options.pauseAt where its statements are held until it is resumed.
   * @param options.rowByRow its plans look at a row, change it, and only then look at the next one.
   */
  async actor(options: { pauseAt?: Point; rowByRow?: boolean } = {}): Promise<Actor> {
    const number = this.#actors.length + 1;
    const settings: Record<string, string> = { 'stage.actor': String(number) };
    if (options.pauseAt !== undefined) settings['stage.pause_at'] = options.pauseAt;
    if (options.rowByRow) {
      for (const plan of ['hashjoin', 'mergejoin', 'seqscan', 'bitmapscan', 'material']) {
        settings[`enable_${plan}`] = 'off';
      }
    }
    const url = new URL(this.#url);
    url.searchParams.set('application_name', nameOf(number));
    url.searchParams.set(
      'options',
      Object.entries(settings)
        .map(([name, value]) => `-c ${name}=${value}`)
        .join(' '),
    );
    if (options.pauseAt !== undefined) {
      await this.#keeper.query('select pg_advisory_lock($1, $2)', [GATES, number]);
    }
    const db = await openPostgres({ databaseUrl: url.href });
    const actor = new Actor(this, number, db);
    this.#actors.push(actor);
    return actor;
  }

  /** Lets an actor go on, for good. */
  async openGate(actor: number): Promise<void> {
    await this.#keeper.query('select pg_advisory_unlock($1, $2)', [GATES, actor]);
  }

  /** Ends the backend of an actor, as a crash of its machine would. */
  async terminate(actor: number): Promise<void> {
    await this.#keeper.query(
      `select pg_terminate_backend(pid, 10000) from pg_stat_activity
       where application_name = $1 and datname = current_database()`,
      [nameOf(actor)],
    );
  }

  /**
   * Returns when the statement of an actor waits for a lock of another.
   * @throws Error when it does not wait: it is over, or waits for somebody else.
   */
  async untilBlocked(actor: number, by: number, isOver: () => boolean): Promise<void> {
    const deadline = performance.now() + PATIENCE_MS;
    for (;;) {
      const over = isOver();
      const { rows } = await this.#keeper.query<{ name: string }>(
        `select blocker.application_name as name
         from pg_stat_activity as waiter, unnest(pg_blocking_pids(waiter.pid)) as blocking(pid)
         join pg_stat_activity as blocker on blocker.pid = blocking.pid
         where waiter.application_name = $1 and waiter.datname = current_database()`,
        [nameOf(actor)],
      );
      if (rows.some(({ name }) => name === nameOf(by))) return;
      const what = `${nameOf(actor)} was to wait for ${nameOf(by)}`;
      if (over) throw new Error(`${what}, and did not`);
      if (performance.now() > deadline) {
        throw new Error(`${what}, and waits for ${JSON.stringify(rows)}`);
      }
    }
  }
}

/** The actor that holds the gates. */
const KEEPER = 0;

function nameOf(actor: number): string {
  return actor === KEEPER ? 'keeper' : `actor ${actor}`;
}

/** In an object, because a promise in a promise would be awaited with it. */
export interface Started<T> {
  result: Promise<T>;
}

export class Actor {
  constructor(
    private readonly stage: Stage,
    private readonly number: number,
    readonly db: Database,
  ) {}

  /** Starts something, and returns when it is held at this actor's point. */
  hold<T>(work: (db: Database) => Promise<T>): Promise<Started<T>> {
    return this.#startUntilBlocked(KEEPER, work);
  }

  /** Starts something, and returns when it waits for a lock that the other one holds. */
  waitFor<T>(other: Actor, work: (db: Database) => Promise<T>): Promise<Started<T>> {
    return this.#startUntilBlocked(other.number, work);
  }

  /** Opens the gate that this actor is held at, for good. */
  resume(): Promise<void> {
    return this.stage.openGate(this.number);
  }

  /** Ends the backend, as a crash of its machine would. What it had not committed is undone. */
  die(): Promise<void> {
    return this.stage.terminate(this.number);
  }

  async #startUntilBlocked<T>(by: number, work: (db: Database) => Promise<T>): Promise<Started<T>> {
    const result = work(this.db);
    let over = false;
    const end = () => {
      over = true;
    };
    result.then(end, end);
    await this.stage.untilBlocked(this.number, by, () => over);
    return { result };
  }
}
