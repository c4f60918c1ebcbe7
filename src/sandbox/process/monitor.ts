/** jobq-dev's side of a monitor: the process that runs commands and ends all of each. */
import type { Socket } from 'node:net';
import { after } from '../deadline.js';
import { encodeFrame, FrameReader } from '../frames.js';
import { signalName } from '../signal-name.js';
import type { Launch, LaunchEnd, Launched, Sinks } from './launch.js';
import { PATIENCE_MS, type Warden } from './warden.js';

export class Monitor {
  /** False when it is gone, or going. */
  alive = true;
  readonly #warden: Warden;
  readonly #socket: Socket;
  readonly #reader = new FrameReader();
  #pid: number | undefined;
  #run: MonitoredRun | undefined;

  private constructor(warden: Warden, socket: Socket) {
    this.#warden = warden;
    this.#socket = socket;
    socket.on('error', () => {}); // 'close' follows
    socket.on('data', (chunk) => this.#onData(chunk));
    socket.once('close', () => this.#onClose());
    socket.unref();
  }

  /** A monitor that waits for its first command. @throws Error when the warden is gone. */
  static async open(warden: Warden): Promise<Monitor> {
    return new Monitor(warden, await warden.connect());
  }

  /** Starts a command, after the end of the last one. The request is never sent again. */
  launch(launch: Launch, sinks: Sinks): Launched {
    const run = new MonitoredRun(sinks, {
      kill: () => this.#socket.write(encodeFrame('K')),
      killMonitor: () => {
        if (this.#pid !== undefined) this.#warden.killMonitor(this.#pid);
      },
      killWarden: () => {
        this.#warden.destroy();
        this.#socket.destroy();
      },
    });
    if (this.alive) {
      this.#run = run;
      this.#socket.ref();
      this.#socket.write(encodeFrame('R', encodeLaunch(launch)));
    } else {
      run.finish(lost('the process that was to start the handler is gone'));
    }
    return run;
  }

  /** Lets go of a monitor that runs nothing. */
  close(): void {
    this.#socket.destroy();
  }

  #onData(chunk: Buffer): void {
    for (const { letter, payload } of this.#reader.read(chunk)) {
      if (letter === 'O') this.#run?.sinks.stdout(payload);
      else if (letter === 'E') this.#run?.sinks.stderr(payload);
      else if (letter === 'M') this.#pid = Number(payload);
      else if (letter === 'F') this.#run?.notStarted(payload.toString());
      else if (letter === 'L') this.#run?.leftBehind(payload.toString());
      else if (letter === 'X') this.#finish(parseEnd(payload.toString('latin1')));
    }
  }

  #finish(end: LaunchEnd): void {
    const run = this.#run;
    this.#run = undefined;
    // It goes with its warden: not for the next command, also while its connection still stands.
    if (end.by === 'lost') this.alive = false;
    this.#socket.unref();
    run?.finish(end);
  }

  async #onClose(): Promise<void> {
    this.alive = false;
    // It died without a word: of the handler's doing, or of ours.
    if (this.#run && this.#pid !== undefined) await this.#warden.remainsEnded(this.#pid);
    this.#finish(lost('the process that watches the handler was killed'));
  }
}

/** Whether the warden can tell what a handler left behind: without /proc it has no names for it. */
const NAMES_LEFT = process.platform === 'linux';

/** One command in a monitor. */
class MonitoredRun implements Launched {
  readonly ended: Promise<LaunchEnd>;
  readonly sinks: Sinks;
  readonly #ways: Record<'kill' | 'killMonitor' | 'killWarden', () => void>;
  #resolve!: (end: LaunchEnd) => void;
  #failure: LaunchEnd | undefined;
  readonly #left: string[] = [];
  #killed = false;
  #over = false;
  #cancelEscalation = (): void => {};

  constructor(sinks: Sinks, ways: Record<'kill' | 'killMonitor' | 'killWarden', () => void>) {
    this.sinks = sinks;
    this.#ways = ways;
    this.ended = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  kill(): void {
    if (this.#killed || this.#over) return;
    this.#killed = true;
    this.#ways.kill();
    // A stopped or stuck monitor is killed by the warden, and a stuck warden by us.
    this.#cancelEscalation = after(PATIENCE_MS, () => {
      this.#ways.killMonitor();
      this.#cancelEscalation = after(PATIENCE_MS, this.#ways.killWarden);
    });
  }

  /** The command could not be started; the end, without meaning then, follows. */
  notStarted(text: string): void {
    const space = text.indexOf(' ');
    const errno = Number(text.slice(0, space));
    this.#failure = { by: 'not-started', errno, message: text.slice(space + 1) };
  }

  /** A process that outlived the handler's own; the end follows. */
  leftBehind(commandLine: string): void {
    this.#left.push(commandLine);
  }

  finish(end: LaunchEnd): void {
    this.#over = true;
    this.#cancelEscalation();
    const looked = NAMES_LEFT && (end.by === 'exit' || end.by === 'signal');
    if (end.by === 'lost' && this.#killed) this.#resolve({ by: 'kill' });
    else if (this.#failure) this.#resolve(this.#failure);
    else this.#resolve(looked ? { ...end, leftBehind: this.#left } : end);
  }
}

function lost(reason: string): LaunchEnd {
  return { by: 'lost', reason };
}

function encodeLaunch(launch: Launch): string {
  const { watchedMemoryBytes, cwd, argv, env } = launch;
  const fields = [watchedMemoryBytes, cwd, argv.length, ...argv];
  for (const [name, value] of Object.entries(env)) fields.push(`${name}=${value}`);
  return `${fields.join('\0')}\0`;
}

/** Reads the payload of an X frame; see warden.pl. */
function parseEnd(text: string): LaunchEnd {
  const [reason, status, peak] = text.split(' ');
  const peakMemoryBytes = Number(peak);
  const measured = peakMemoryBytes > 0 ? { peakMemoryBytes } : {};
  if (reason === 'kill' || reason === 'memory') return { by: reason, ...measured };
  if (reason === 'warden') return lost('the process that starts handlers (the warden) ended');
  return { ...decodeStatus(Number(status)), ...measured };
}

/** Reads a status of wait(2): the low seven bits are the signal, the second byte the exit code. */
function decodeStatus(
  status: number,
): { by: 'exit'; code: number } | { by: 'signal'; signal: string } {
  const signal = status & 0x7f;
  if (signal === 0) return { by: 'exit', code: (status >> 8) & 0xff };
  return { by: 'signal', signal: signalName(signal) ?? `signal ${signal}` };
}
