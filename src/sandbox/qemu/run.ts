/** One run of a handler in a guest: its deadline, its output, and how it ended. */
import type { Outcome } from '../../job/outcome.js';
import { asBytes } from '../byte-path.js';
import { after } from '../deadline.js';
import { OutputCapture } from '../output.js';
import type { Command, RunResult } from '../port.js';
import { signalName } from '../signal-name.js';
import type { Frame } from './agent.js';
import type { Vm } from './vm.js';

/** A guest that does not say within this that a handler was killed is ended without a word. */
const KILL_MS = 900;

/** The fields of frame X (see agent.pl). */
export function encodeCommand(
  command: Command,
  env: Readonly<Record<string, string>>,
  memoryBytes: number,
): Buffer {
  const { interpreter, script, args } = command;
  const fields = [
    String(memoryBytes),
    ...[String(interpreter.length), ...interpreter, script],
    ...[String(args.length), ...args],
    ...Object.entries(env).map(([name, value]) => `${name}=${value}`),
  ];
  return Buffer.from(asBytes(fields.join('\0')), 'latin1');
}

/**
 * Runs the command, sent once; resolves when nothing of it runs any more. `makeReady` comes first and
 * counts as part of it; what it throws is `lost`.
 * @throws what the caller's `onOutput` threw.
 */
export async function runInGuest(
  vm: Vm,
  command: Command,
  frame: Buffer,
  makeReady: () => Promise<void>,
): Promise<RunResult> {
  const startedAt = performance.now();
  const { onOutput, outputLimitBytes, timeoutMs } = command;
  const capture = (stream: 'stdout' | 'stderr') =>
    new OutputCapture(outputLimitBytes, onOutput && ((text) => onOutput(stream, text)));
  const streams = { 1: capture('stdout'), 2: capture('stderr') };
  const leftBehind: string[] = [];
  let fault: { error: unknown } | undefined;
  let timedOut = false;
  let ended = false;
  let sent = false;

  const outcome = await new Promise<{ outcome: Outcome; memoryExceeded?: boolean }>((resolve) => {
    const cancels: (() => void)[] = [];
    const end = (outcome: Outcome, memoryExceeded = false): void => {
      ended = true;
      for (const cancel of cancels) cancel();
      resolve({ outcome, memoryExceeded });
    };
    const timeout: Outcome = { kind: 'timeout', afterMs: timeoutMs };
    const stop = (): void => {
      if (!sent) return;
      void vm.agent.send('K');
      cancels.push(after(KILL_MS, () => void vm.destroy('it did not end its handler')));
    };
    cancels.push(
      after(timeoutMs, () => {
        timedOut = true;
        if (sent) stop();
        else void vm.destroy('it was not ready in time');
      }),
    );
    void vm.ended.then((reason) => {
      if (!ended) end(timedOut ? timeout : { kind: 'lost', reason });
    });
    const take = ({ letter, payload }: Frame): void => {
      if (ended) return;
      if (letter === '1' || letter === '2') {
        try {
          streams[letter].push(payload);
        } catch (error) {
          fault ??= { error };
          stop();
        }
      } else if (letter === 'L') {
        leftBehind.push(payload.toString());
      } else if (letter === 'X') {
        const [reason, status] = payload.toString().split('\0');
        if (reason === 'memory') end({ kind: 'signaled', signal: 'SIGKILL' }, true);
        else if (reason === 'exit') end(outcomeOf(Number(status)));
        else end(timedOut ? timeout : { kind: 'lost', reason: 'it was ended' });
      }
    };
    makeReady().then(
      () => {
        if (ended) return;
        vm.agent.listen(take);
        sent = true;
        void vm.agent.send('X', frame);
      },
      (error: Error) => {
        if (!ended) end({ kind: 'lost', reason: error.message });
      },
    );
  });

  vm.agent.listen(() => {});
  const durationMs = performance.now() - startedAt;
  const result: RunResult = {
    outcome: outcome.outcome,
    stdout: streams[1].finish(),
    stderr: streams[2].finish(),
    durationMs,
    memoryExceeded: outcome.memoryExceeded ?? false,
    ...(outcome.outcome.kind === 'exited' || outcome.outcome.kind === 'signaled'
      ? { leftBehind }
      : {}),
  };
  if (fault) throw fault.error;
  return result;
}

/** From the status of wait(2), as Linux numbers it; so the host's numbers are right. */
function outcomeOf(status: number): Outcome {
  const signal = status & 0x7f;
  if (signal === 0) return { kind: 'exited', code: status >> 8 };
  return { kind: 'signaled', signal: signalName(signal) ?? null };
}
