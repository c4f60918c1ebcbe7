import type { VirtualClock } from '../clock.js';
import type { Database } from '../db/port.js';
import { enqueue, type NewJob } from '../queue/enqueue.js';
import { type Expectation, type FixtureJob, readFixture } from './fixture.js';

/** Jobs per insert. */
const CHUNK = 500;

/** A fixture's jobs on their way into the table, each at its virtual time. */
export class Burst {
  readonly #jobs: AsyncGenerator<FixtureJob>;
  #next: FixtureJob | undefined;
  /** What was promised for a job, by id. */
  readonly expected = new Map<string, { line: number; expect: Expectation }>();
  /** The first id of each line, rising, and the line; a job's line is found by bisection. */
  readonly #firstIds: number[] = [];
  readonly #lines: number[] = [];

  private constructor(
    file: string,
    private readonly start: Date,
  ) {
    this.#jobs = readFixture(file);
  }

  static async open(file: string, start: Date): Promise<Burst> {
    const burst = new Burst(file, start);
    await burst.#pull();
    return burst;
  }

  /** When the next job arrives; undefined when all have. */
  get nextArrival(): Date | undefined {
    return this.#next && new Date(this.start.getTime() + this.#next.atMs);
  }

  /** Puts in what has arrived by now, each job with its own arrival time. */
  async arrive(
    db: Database,
    clock: VirtualClock,
    onArrived: (kind: string, count: number) => void,
  ): Promise<void> {
    while (this.nextArrival !== undefined && this.nextArrival <= clock.now()) {
      const at = this.nextArrival;
      const lines: FixtureJob[] = [];
      // One insert per instant: jobs that arrive together share created_at.
      while (this.#next !== undefined && this.nextArrival?.getTime() === at.getTime()) {
        lines.push(this.#next);
        await this.#pull();
        if (lines.length >= CHUNK) break;
      }
      await this.#insert(db, at, lines);
      for (const { kind, count } of lines) onArrived(kind, count);
    }
  }

  lineOf(id: string): number {
    const wanted = Number(id);
    let low = 0;
    let high = this.#firstIds.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.#firstIds[middle]! <= wanted) low = middle;
      else high = middle;
    }
    return this.#lines[low] ?? 0;
  }

  async close(): Promise<void> {
    await this.#jobs.return(undefined);
  }

  async #insert(db: Database, at: Date, lines: FixtureJob[]): Promise<void> {
    let jobs: NewJob[] = [];
    let owners: FixtureJob[] = [];
    const flush = async () => {
      const ids = await enqueue(db, { jobs, now: at });
      for (const [index, id] of ids.entries()) this.#remember(id, owners[index]!);
      jobs = [];
      owners = [];
    };
    for (const line of lines) {
      const job: NewJob = {
        kind: line.kind,
        payload: line.payload,
        runAfter:
          line.runAfterMs === undefined
            ? undefined
            : new Date(this.start.getTime() + line.runAfterMs),
        maxAttempts: line.maxAttempts,
      };
      for (let copy = 0; copy < line.count; copy += 1) {
        jobs.push(job);
        owners.push(line);
        if (jobs.length >= CHUNK) await flush();
      }
    }
    await flush();
  }

  #remember(id: string, line: FixtureJob): void {
    if (this.#lines.at(-1) !== line.line) {
      this.#firstIds.push(Number(id));
      this.#lines.push(line.line);
    }
    if (line.expect !== undefined) {
      this.expected.set(id, { line: line.line, expect: line.expect });
    }
  }

  async #pull(): Promise<void> {
    const { value, done } = await this.#jobs.next();
    this.#next = done ? undefined : value;
  }
}
