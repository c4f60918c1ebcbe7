/**
 * What the attempts that run here write, while they run; the table has it when they have ended.
 * Told on at a steady pace: a handler that prints a million lines slows nobody who reads them.
 */
import type { ClaimedJob } from '../events.js';
import { lastLine } from '../job/text.js';
import { KEPT_OUTPUT_CHARACTERS } from '../queue/settle.js';
import type { EventData } from './contract.js';

const STREAMS = ['stdout', 'stderr'] as const;
type StreamName = (typeof STREAMS)[number];

/** Text is gathered for so long before it is told. */
const GATHER_MS = 100;
/** Characters of one stream that are told at a time; what comes faster is left out. */
const TOLD_AT_ONCE = 32 * 1024;
/** Attempts that are remembered. More never run at a time; one whose end is never told must go. */
const MOST_ATTEMPTS = 2_000;

interface Written {
  /** The tail of what was told. */
  told: string;
  pending: string;
  truncated: boolean;
}

interface Live extends Record<StreamName, Written> {
  jobId: string;
  last: StreamName;
}

export class LiveOutput {
  readonly #attempts = new Map<string, Live>();
  #timer: NodeJS.Timeout | undefined;

  /** @param tell is given what was gathered. */
  constructor(private readonly tell: (output: EventData['output']) => void) {}

  add(job: ClaimedJob, stream: StreamName, text: string): void {
    const live = this.#attempts.get(job.claim_id) ?? this.#begin(job);
    live.last = stream;
    const written = live[stream];
    written.pending += text;
    if (written.pending.length > 2 * TOLD_AT_ONCE) cut(written);
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      for (const claimId of this.#attempts.keys()) this.#flush(claimId);
    }, GATHER_MS);
    this.#timer.unref();
  }

  /** The attempt is over: tells the rest and forgets it. */
  end(claimId: string): void {
    this.#flush(claimId);
    this.#attempts.delete(claimId);
  }

  /** The last line that an attempt has written. */
  lastLine(claimId: string): string {
    const live = this.#attempts.get(claimId);
    if (live === undefined) return '';
    const { told, pending } = live[live.last];
    return lastLine(told + pending);
  }

  /** What the attempts of a job have written, as far as it was told; the tail of each stream. */
  ofJob(jobId: string): { claimId: string; stdout: string; stderr: string }[] {
    return [...this.#attempts]
      .filter(([, live]) => live.jobId === jobId)
      .map(([claimId, { stdout, stderr }]) => ({
        claimId,
        stdout: stdout.told,
        stderr: stderr.told,
      }));
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #begin({ id, claim_id }: ClaimedJob): Live {
    const nothing = () => ({ told: '', pending: '', truncated: false });
    const live: Live = { jobId: id, last: 'stdout', stdout: nothing(), stderr: nothing() };
    this.#attempts.set(claim_id, live);
    if (this.#attempts.size > MOST_ATTEMPTS) {
      const [oldest] = this.#attempts.keys();
      this.#attempts.delete(oldest!);
    }
    return live;
  }

  #flush(claimId: string): void {
    const live = this.#attempts.get(claimId);
    if (live === undefined) return;
    for (const stream of STREAMS) {
      const written = live[stream];
      if (written.pending === '') continue;
      if (written.pending.length > TOLD_AT_ONCE) cut(written);
      const { pending: text, truncated } = written;
      written.told = end(written.told + text, KEPT_OUTPUT_CHARACTERS);
      written.pending = '';
      written.truncated = false;
      this.tell({ job_id: live.jobId, claim_id: claimId, stream, text, truncated });
    }
  }
}

function cut(written: Written): void {
  written.pending = end(written.pending, TOLD_AT_ONCE);
  written.truncated = true;
}

/** The last `count` UTF-16 units, without half a character at the front. */
function end(text: string, count: number): string {
  if (text.length <= count) return text;
  return text.slice(-count).replace(/^[\udc00-\udfff]/, '');
}
