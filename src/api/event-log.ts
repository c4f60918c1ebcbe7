/**
 * The newest events, numbered, for readers that come and go. A reader is a place in the log and
 * nothing more: one that is slow, or was away, finds what it lacks here or is told that it is gone.
 * Nobody is waited for.
 */
import { randomBytes } from 'node:crypto';
import type { Clock } from '../clock.js';
import type { ClaimedJob, EventMap, Events } from '../events.js';
import type { EventData, EventName, StreamEvent } from './contract.js';
import { EVENT_DATA } from './event-data.js';
import { LiveOutput } from './live-output.js';

/** Events that are kept. */
const CAPACITY = 10_000;
/** Characters of handlers' output that are kept in them. */
const OUTPUT_CAPACITY = 8 * 1024 ** 2;
/** Events that a reader is given at a time. */
const TOGETHER = 250;

export interface FollowOptions {
  /** The id of the last event that the reader has. */
  after: string;
  signal: AbortSignal;
  /** An empty batch comes when nothing happened for so long. */
  idleMs?: number;
}

export class EventLog {
  /** What the attempts that run here have written. */
  readonly output: LiveOutput;
  /** Ids of another emulator, or of this one before it was restarted, are none of ours. */
  readonly #emulator = randomBytes(4).toString('hex');
  readonly #ring = new Array<StreamEvent | undefined>(CAPACITY);
  #newest = 0;
  #oldest = 1;
  #outputSize = 0;
  #waiting = new Set<() => void>();
  #closed = false;

  constructor(events: Events, clock: Clock) {
    this.output = new LiveOutput((data) => this.#add('output', data));
    events.on('output', ({ job, stream, text }) => this.output.add(job, stream, text));
    // Before the end itself is told.
    const end = ({ job }: { job: ClaimedJob }) => this.output.end(job.claim_id);
    events.on('settled', end).on('superseded', end).on('released', end);
    const told = Object.entries(EVENT_DATA) as [
      Exclude<keyof EventMap, 'output'>,
      (event: unknown, now: Date) => EventData[EventName] | undefined,
    ][];
    for (const [name, dataOf] of told) {
      events.on(name, (event: unknown) => {
        const data = dataOf(event, clock.now());
        if (data !== undefined) this.#add(name, data);
      });
    }
  }

  /** The id of the newest event. */
  get lastId(): string {
    return this.#id(this.#newest);
  }

  /**
   * Batches of events as they happen, until the signal or `close`. A `reset` comes first where what
   * followed `after` is gone, and later where the reader was too slow.
   */
  async *follow({ after, signal, idleMs }: FollowOptions): AsyncGenerator<StreamEvent[]> {
    let place = this.#place(after);
    while (!signal.aborted) {
      if (place === undefined || place + 1 < this.#oldest) {
        place = this.#newest;
        yield [{ id: this.lastId, name: 'reset', data: {} }];
        continue;
      }
      const batch = this.#batch(place);
      if (batch.length > 0 || !(await this.#more(signal, idleMs))) {
        place += batch.length;
        if (this.#closed && batch.length === 0) return;
        yield batch;
      }
    }
  }

  /** Lets every reader read to its end. Idempotent. */
  close(): void {
    this.#closed = true;
    this.output.close();
    this.#wake();
  }

  #batch(place: number): StreamEvent[] {
    const count = Math.min(this.#newest - place, TOGETHER);
    return Array.from({ length: count }, (_none, index) => this.#at(place + 1 + index)!);
  }

  #at(place: number): StreamEvent | undefined {
    return this.#ring[place % CAPACITY];
  }

  #id(place: number): string {
    return `${this.#emulator}-${place}`;
  }

  /** Where the reader that has seen `id` goes on; undefined when that is not known here. */
  #place(id: string): number | undefined {
    const [, emulator, digits] = /^([0-9a-f]+)-(\d{1,15})$/.exec(id) ?? [];
    const place = Number(digits);
    return emulator === this.#emulator && place <= this.#newest ? place : undefined;
  }

  #add(name: EventName, data: EventData[EventName]): void {
    if (this.#closed) return;
    this.#newest += 1;
    if (this.#newest - this.#oldest >= CAPACITY) this.#drop();
    const event = { id: this.#id(this.#newest), name, data } as StreamEvent;
    this.#ring[this.#newest % CAPACITY] = event;
    this.#outputSize += outputSize(event);
    while (this.#outputSize > OUTPUT_CAPACITY) this.#drop();
    this.#wake();
  }

  #drop(): void {
    const index = this.#oldest % CAPACITY;
    this.#outputSize -= outputSize(this.#ring[index]!);
    this.#ring[index] = undefined;
    this.#oldest += 1;
  }

  #wake(): void {
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
  }

  /** Waits for the next event, the signal or `close`. @returns false when time was over, or closed. */
  #more(signal: AbortSignal, idleMs: number | undefined): Promise<boolean> {
    if (this.#closed) return Promise.resolve(false);
    return new Promise((resolve) => {
      const timer = idleMs === undefined ? undefined : setTimeout(() => done(false), idleMs);
      const done = (more: boolean) => {
        clearTimeout(timer);
        signal.removeEventListener('abort', wake);
        this.#waiting.delete(wake);
        resolve(more);
      };
      const wake = () => done(!this.#closed);
      signal.addEventListener('abort', wake);
      this.#waiting.add(wake);
    });
  }
}

function outputSize(event: StreamEvent): number {
  return event.name === 'output' ? event.data.text.length : 0;
}
