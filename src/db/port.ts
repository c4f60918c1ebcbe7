/**
 * The database port: what the queue needs from Postgres, and no more.
 *
 * Two drivers implement it, PGlite (in a worker thread) and `pg`, and one conformance suite runs
 * over both. Column types arrive the same from either:
 *
 * | Postgres type              | JavaScript                                            |
 * | -------------------------- | ----------------------------------------------------- |
 * | int8, numeric              | string (every digit)                                  |
 * | int2, int4, float4, float8 | number                                                |
 * | json, jsonb                | string, the text as Postgres prints it; never parsed  |
 * | timestamptz                | Date                                                  |
 * | bool                       | boolean                                               |
 * | text, uuid, enums          | string                                                |
 * | arrays of the above        | array, of any depth                                   |
 * | anything else              | string, the text as Postgres prints it                |
 *
 * A Date ends at ±8.64e15 ms: those two stand for `infinity` and `-infinity`, both ways.
 *
 * Parameters may be string, number, bigint, boolean, Date, null, or an array of those (sent as a
 * Postgres array).
 */
export type Param =
  | string
  | number
  | bigint
  | boolean
  | Date
  | null
  | readonly (string | number | boolean | null)[];

export type Row = Record<string, unknown>;

export interface Queryable {
  /**
   * Runs one statement.
   * @returns its rows, and how many rows it changed or returned.
   * @throws DatabaseError for anything the server refuses, JobqError `database-unreachable` when
   *   there is no server to ask.
   */
  query<R extends Row = Row>(
    sql: string,
    params?: readonly Param[],
  ): Promise<{ rows: R[]; rowCount: number }>;
  /** Runs several statements without parameters, as a migration file holds them. */
  exec(sql: string): Promise<void>;
}

export interface Database extends Queryable {
  readonly driver: 'pglite' | 'postgres';
  /** Where the data is, for people: a directory, `memory`, or a URL without its password. */
  readonly location: string;
  /**
   * Runs `work` in one transaction on one session; commits when it resolves, rolls back when it
   * throws. Statements of other callers never interleave into it.
   */
  transaction<T>(work: (tx: Queryable) => Promise<T>): Promise<T>;
  /** Vacuums and analyzes what has changed, where the server has no autovacuum (PGlite). */
  maintain(): Promise<void>;
  /** Closes every session. Idempotent. Waits for statements under way. */
  close(): Promise<void>;
}

/** An error that the server itself reported. */
export class DatabaseError extends Error {
  override readonly name = 'DatabaseError';
  constructor(
    message: string,
    /** SQLSTATE, five characters. */
    readonly sqlstate: string,
    /** `more` is what Postgres calls its detail; it may quote values. */
    readonly detail: { constraint?: string; more?: string; hint?: string; position?: number } = {},
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
