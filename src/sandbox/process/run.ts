/** One run of a command: its deadline, its output, and how it ended. */
import type { Outcome } from '../../job/outcome.js';
import { after } from '../deadline.js';
import type { StartFailure } from '../handler-command.js';
import { OutputCapture } from '../output.js';
import type { CapturedOutput, Command, RunResult } from '../port.js';
import { signalName } from '../signal-name.js';
import type { Launch, LaunchEnd, Launched } from './launch.js';
import type { Slot } from './starter.js';

/** Why a run is ended from outside. */
export type StopReason = { kind: 'timeout' } | { kind: 'killed'; why: string };

export class Run {
  /**
   * Resolves when nothing of the command runs any more. Rejects only with what the caller's
   * `onOutput` threw.
   */
  readonly result: Promise<RunResult>;
  readonly #command: Command;
  readonly #startedAt = performance.now();
  readonly #capture: Record<'stdout' | 'stderr', OutputCapture>;
  #launched: Launched | undefined;
  #stopped: StopReason | undefined;
  #fault: { error: unknown } | undefined;

  /** `openSlot` gives the place to start in; the command is started in it at most once. */
  constructor(command: Command, ready: Launch | StartFailure, openSlot: () => Promise<Slot>) {
    this.#command = command;
    this.#capture = { stdout: this.#newCapture('stdout'), stderr: this.#newCapture('stderr') };
    this.result = this.#run(ready, openSlot);
  }

  /** Ends the command and all that it started. The first reason wins; later calls do nothing. */
  stop(reason: StopReason): void {
    this.#stopped ??= reason;
    this.#launched?.kill();
  }

  get timedOut(): boolean {
    return this.#stopped?.kind === 'timeout';
  }

  async #run(ready: Launch | StartFailure, openSlot: () => Promise<Slot>): Promise<RunResult> {
    const cancelDeadline = after(this.#command.timeoutMs, () => this.stop({ kind: 'timeout' }));
    const end = await this.#launch(ready, openSlot);
    cancelDeadline();
    const outcome = this.#outcomeOf(end);
    const { stdout, stderr } = this.#finishOutput();
    if (this.#fault) throw this.#fault.error;
    return {
      outcome,
      stdout,
      stderr,
      durationMs: performance.now() - this.#startedAt,
      ...('peakMemoryBytes' in end ? { peakMemoryBytes: end.peakMemoryBytes } : {}),
      // With a program in between, what it still runs as it ends is not the handler's.
      ...('leftBehind' in end && 'argv' in ready && !ready.signalsAsCodes
        ? { leftBehind: end.leftBehind }
        : {}),
      memoryExceeded: end.by === 'memory',
    };
  }

  async #launch(ready: Launch | StartFailure, openSlot: () => Promise<Slot>): Promise<LaunchEnd> {
    if ('code' in ready) return this.#couldNotStart(ready);
    let slot: Slot;
    try {
      slot = await openSlot();
    } catch (error) {
      return { by: 'lost', reason: `nothing could be started: ${(error as Error).message}` };
    }
    if (this.#stopped) {
      slot.close();
      return { by: 'kill' };
    }
    this.#launched = slot.launch(ready, {
      stdout: (bytes) => this.#push('stdout', bytes),
      stderr: (bytes) => this.#push('stderr', bytes),
    });
    const end = await this.#launched.ended;
    if (end.by === 'exit' && ready.signalsAsCodes) return signalOfCode(end);
    if (end.by !== 'not-started') return end;
    return this.#couldNotStart({
      code: 126,
      message: `${ready.argv[0]}: cannot be started (${end.message})`,
    });
  }

  /** A command that cannot be started is the job's failure, told as a shell tells it. */
  #couldNotStart({ code, message }: StartFailure): LaunchEnd {
    this.#push('stderr', Buffer.from(`${message}\n`));
    return { by: 'exit', code };
  }

  #outcomeOf(end: LaunchEnd): Outcome {
    // Whatever we may have asked for meanwhile, it ended by itself first.
    if (end.by === 'exit') return { kind: 'exited', code: end.code };
    if (end.by === 'signal') return { kind: 'signaled', signal: end.signal };
    if (end.by === 'memory') return { kind: 'signaled', signal: 'SIGKILL' };
    if (this.#stopped?.kind === 'timeout') {
      return { kind: 'timeout', afterMs: this.#command.timeoutMs };
    }
    if (this.#stopped) return { kind: 'lost', reason: this.#stopped.why };
    return { kind: 'lost', reason: end.by === 'lost' ? end.reason : 'it was ended' };
  }

  #newCapture(stream: 'stdout' | 'stderr'): OutputCapture {
    const { onOutput, outputLimitBytes } = this.#command;
    return new OutputCapture(outputLimitBytes, onOutput && ((text) => onOutput(stream, text)));
  }

  #push(stream: 'stdout' | 'stderr', bytes: Buffer): void {
    try {
      this.#capture[stream].push(bytes);
    } catch (error) {
      this.#fault ??= { error };
      this.stop({ kind: 'killed', why: 'what listens to its output failed' });
    }
  }

  #finishOutput(): { stdout: CapturedOutput; stderr: CapturedOutput } {
    return { stdout: this.#capture.stdout.finish(), stderr: this.#capture.stderr.finish() };
  }
}

/** A program in between tells a death by signal as a shell does: 128 and the signal's number. */
function signalOfCode(end: Extract<LaunchEnd, { by: 'exit' }>): LaunchEnd {
  const signal = end.code > 128 ? signalName(end.code - 128) : undefined;
  return signal === undefined ? end : { ...end, by: 'signal', signal };
}
