/** One run of a handler in a hosted sandbox: started once, then polled. */
import type { Outcome } from '../../job/outcome.js';
import { after } from '../deadline.js';
import { OutputCapture } from '../output.js';
import type { CapturedOutput, Command, RunResult } from '../port.js';
import { signalName } from '../signal-name.js';
import { ApiFault, type PandastackApi } from './api.js';
import { PIECE_BYTES, poll, start, stop } from './script.js';

export interface PollTimes {
  /** Between looks: at first, and at most. */
  firstMs: number;
  mostMs: number;
  /** How long a run that was not seen to start may stay unseen. */
  absentMs: number;
  /** How long the service may give no answer before the sandbox is given up. */
  silentMs: number;
}

interface Look {
  status: number | undefined;
  sizes: Record<Stream, number>;
  pieces: Record<Stream, Buffer>;
}

/** After the deadline the sandbox goes, however slow the service is. */
const LAST_WORDS_MS = 800;

type Stream = 'out' | 'err';
const STREAMS = ['out', 'err'] as const;
/** Of what nobody will keep no more than this is fetched. */
const MOST_BEHIND = 4 * PIECE_BYTES;

export class RemoteRun {
  readonly #api: PandastackApi;
  readonly #id: string;
  readonly #run: string;
  readonly #command: Command;
  readonly #times: PollTimes;
  readonly #captures: Record<Stream, OutputCapture>;
  readonly #at: Record<Stream, number> = { out: 0, err: 0 };
  #answeredAt = performance.now();
  #skipped: Record<Stream, boolean> = { out: false, err: false };
  #timedOut = false;
  #gone: string | undefined;
  #wake: () => void = () => {};

  /** @param run the folder of this run in the sandbox. */
  constructor(api: PandastackApi, id: string, run: string, command: Command, times: PollTimes) {
    this.#api = api;
    this.#id = id;
    this.#run = run;
    this.#command = command;
    this.#times = times;
    const { onOutput, outputLimitBytes } = command;
    const capture = (stream: 'stdout' | 'stderr') =>
      new OutputCapture(outputLimitBytes, onOutput && ((text) => onOutput(stream, text)));
    this.#captures = { out: capture('stdout'), err: capture('stderr') };
  }

  /** The sandbox was destroyed: it ends with this reason. */
  lose(reason: string): void {
    this.#gone ??= reason;
    this.#wake();
  }

  /** @throws what the caller's `onOutput` threw. */
  async result(): Promise<RunResult> {
    const startedAt = performance.now();
    let reached = (): void => {};
    const deadline = new Promise<void>((resolve) => {
      reached = resolve;
    });
    const cancel = after(this.#command.timeoutMs, () => {
      this.#timedOut = true;
      reached();
      this.#wake();
    });
    const outcome = await this.#follow(deadline).finally(cancel);
    return {
      outcome,
      stdout: this.#finish('out'),
      stderr: this.#finish('err'),
      durationMs: performance.now() - startedAt,
      memoryExceeded: false,
    };
  }

  /** Whatever is being waited for, the deadline comes first. */
  async #follow(deadline: Promise<void>): Promise<Outcome> {
    const begun = await Promise.race([this.#start(), deadline]);
    if (begun) return begun;
    let waitMs = this.#times.firstMs;
    let absentSince: number | undefined;
    for (;;) {
      if (this.#timedOut) return this.#end();
      const look = await Promise.race([this.#look(), deadline]);
      if (this.#timedOut) return this.#end();
      if (this.#gone !== undefined) return { kind: 'lost', reason: this.#gone };
      if (look === 'absent') {
        absentSince ??= performance.now();
        if (performance.now() - absentSince > this.#times.absentMs) {
          return { kind: 'lost', reason: 'PandaStack did not start the command' };
        }
      } else if (look) {
        const grew = this.#take(look);
        const isWhole = STREAMS.every((each) => this.#at[each] >= look.sizes[each]);
        if (look.status !== undefined && isWhole) return outcomeOf(look.status);
        if (grew) waitMs = this.#times.firstMs;
        if (look.status !== undefined) continue;
      }
      await this.#pause(waitMs);
      waitMs = Math.min(2 * waitMs, this.#times.mostMs);
    }
  }

  /** Sends the command. Whatever becomes of the answer, it is not sent again: the poll finds out. */
  async #start(): Promise<Outcome | undefined> {
    try {
      await this.#api.execOnce(this.#id, start(this.#run));
    } catch (error) {
      if (!(error instanceof ApiFault)) throw error;
      if (error.isGone) return { kind: 'lost', reason: this.#gone ?? 'the sandbox is gone' };
      if (!error.mayPass) return { kind: 'lost', reason: error.message };
    }
    return undefined;
  }

  /** @returns undefined when there was no answer: the next look may have one. */
  async #look(): Promise<Look | 'absent' | undefined> {
    try {
      const { stdout } = await this.#api.execOnce(this.#id, poll(this.#run, this.#at));
      this.#answeredAt = performance.now();
      return read(stdout);
    } catch (error) {
      if (!(error instanceof ApiFault)) throw error;
      const isSilent = performance.now() - this.#answeredAt > this.#times.silentMs;
      if (error.isGone) this.#gone ??= 'the sandbox went away';
      else if (!error.mayPass || isSilent) this.#gone ??= error.message;
      return undefined;
    }
  }

  /** At the deadline: nothing of it may go on, and what it has said by then is kept. */
  async #end(): Promise<Outcome> {
    const said = this.#api
      .execOnce(this.#id, stop(this.#run))
      .then(() => this.#look())
      .catch(() => undefined);
    const look = await Promise.race([said, later(LAST_WORDS_MS)]);
    if (look && look !== 'absent') this.#take(look);
    return { kind: 'timeout', afterMs: this.#command.timeoutMs };
  }

  #take({ sizes, pieces }: Look): boolean {
    let grew = false;
    for (const stream of STREAMS) {
      const piece = pieces[stream];
      if (piece.length > 0) {
        grew = true;
        this.#captures[stream].push(this.#skipped[stream] ? afterPartial(piece) : piece);
        this.#skipped[stream] = false;
        this.#at[stream] += piece.length;
      }
      const kept = Math.max(this.#command.outputLimitBytes, MOST_BEHIND);
      if (sizes[stream] - this.#at[stream] > 2 * kept) {
        this.#at[stream] = sizes[stream] - kept;
        this.#skipped[stream] = true;
      }
    }
    return grew;
  }

  #finish(stream: Stream): CapturedOutput {
    const captured = this.#captures[stream].finish();
    const totalBytes = this.#at[stream];
    return { ...captured, totalBytes, truncated: totalBytes > this.#command.outputLimitBytes };
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = after(ms, () => this.#wake());
      this.#wake = () => {
        cancel();
        this.#wake = () => {};
        resolve();
      };
      if (this.#timedOut || this.#gone !== undefined) this.#wake();
    });
  }
}

function later(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** What `poll` printed; undefined for anything else, which the next look replaces. */
function read(text: string): Look | 'absent' | undefined {
  const [status = '', sizes = '', out = '', err = ''] = text.split('\n');
  if (status === 'absent') return 'absent';
  const [outSize, errSize] = sizes.trim().split(/\s+/).map(Number);
  if (!/^(running|\d+)$/.test(status) || !Number.isInteger(outSize) || !Number.isInteger(errSize)) {
    return undefined;
  }
  return {
    status: status === 'running' ? undefined : Number(status),
    sizes: { out: outSize!, err: errSize! },
    pieces: { out: Buffer.from(out, 'base64'), err: Buffer.from(err, 'base64') },
  };
}

/** A piece from the middle of the stream may begin inside a character. */
function afterPartial(piece: Buffer): Buffer {
  let at = 0;
  while (at < 3 && at < piece.length && (piece[at]! & 0xc0) === 0x80) at += 1;
  return piece.subarray(at);
}

/** A shell tells a death by signal n as 128 + n. */
function outcomeOf(status: number): Outcome {
  const signal = status > 128 ? signalName(status - 128) : undefined;
  return signal === undefined ? { kind: 'exited', code: status } : { kind: 'signaled', signal };
}
