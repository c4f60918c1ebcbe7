/** jobq-dev's side of a monitor: the process that runs one command and ends all of it. */
import type { Socket } from 'node:net';
import { after } from './deadline.js';
import { encodeFrame, FrameReader } from './frames.js';
import { type Launch, type LaunchEnd, type Launched, type Sinks, signalName } from './launch.js';
import { PATIENCE_MS, type Warden } from './warden.js';

export class Monitor implements Launched {
  readonly ended: Promise<LaunchEnd>;
  readonly #warden: Warden;
  readonly #socket: Socket;
  readonly #reader = new FrameReader();
  #sinks: Sinks | undefined;
  #pid: number | undefined;
  #failure: { errno: number; message: string } | undefined;
  #end!: (end: LaunchEnd) => void;
  #over = false;
  #killed = false;
  #stopWaiting = (): void => {};

  private constructor(warden: Warden, socket: Socket) {
    this.#warden = warden;
    this.#socket = socket;
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
    socket.on('error', () => {}); // 'close' follows
    socket.on('data', (chunk) => this.#onData(chunk));
    socket.once('close', () => this.#onClose());
  }

  /** A monitor that waits for its command. @throws Error when the warden is gone. */
  static async open(warden: Warden): Promise<Monitor> {
    return new Monitor(warden, await warden.connect());
  }

  /** Starts the command, once; the request is never sent again. */
  launch(launch: Launch, sinks: Sinks): Launched {
    this.#sinks = sinks;
    this.#socket.write(encodeFrame('R', encodeLaunch(launch)));
    return this;
  }

  /** Lets go of a monitor that has nothing to run. */
  close(): void {
    this.#socket.destroy();
  }

  kill(): void {
    if (this.#killed || this.#over) return;
    this.#killed = true;
    this.#socket.write(encodeFrame('K'));
    // A stopped or stuck monitor is killed by the warden, and a stuck warden by us.
    this.#stopWaiting = after(PATIENCE_MS, () => {
      if (this.#pid !== undefined) this.#warden.killMonitor(this.#pid);
      this.#stopWaiting = after(PATIENCE_MS, () => {
        this.#warden.destroy();
        this.#socket.destroy();
      });
    });
  }

  #onData(chunk: Buffer): void {
    for (const { letter, payload } of this.#reader.read(chunk)) {
      if (letter === 'O') this.#sinks?.stdout(payload);
      else if (letter === 'E') this.#sinks?.stderr(payload);
      else if (letter === 'M') this.#pid = Number(payload);
      else if (letter === 'F') this.#failure = parseFailure(payload.toString());
      else if (letter === 'X') this.#finish(this.#parseEnd(payload.toString('latin1')));
    }
  }

  #parseEnd(text: string): LaunchEnd {
    if (this.#failure) return { by: 'not-started', ...this.#failure };
    const [reason, status, peak] = text.split(' ');
    const peakMemoryBytes = Number(peak);
    const measured = peakMemoryBytes > 0 ? { peakMemoryBytes } : {};
    if (reason === 'kill' || reason === 'memory') return { by: reason, ...measured };
    if (reason === 'warden') return lost('the process that starts handlers (the warden) ended');
    return { ...decodeStatus(Number(status)), ...measured };
  }

  async #onClose(): Promise<void> {
    if (this.#over) return;
    // It died without a word: of the handler's doing, or of ours in `kill`.
    if (this.#pid !== undefined) await this.#warden.remainsEnded(this.#pid);
    this.#finish(
      this.#killed ? { by: 'kill' } : lost('the process that watches the handler was killed'),
    );
  }

  #finish(end: LaunchEnd): void {
    if (this.#over) return;
    this.#over = true;
    this.#stopWaiting();
    this.#socket.end();
    this.#end(end);
  }
}

function lost(reason: string): LaunchEnd {
  return { by: 'lost', reason };
}

function encodeLaunch(launch: Launch): string {
  const { watchedMemoryBytes, cwd, cgroups, argv, env } = launch;
  const fields = [watchedMemoryBytes, cwd, cgroups.length, ...cgroups, argv.length, ...argv];
  for (const [name, value] of Object.entries(env)) fields.push(`${name}=${value}`);
  return `${fields.join('\0')}\0`;
}

function parseFailure(text: string): { errno: number; message: string } {
  const space = text.indexOf(' ');
  return { errno: Number(text.slice(0, space)), message: text.slice(space + 1) };
}

/** Reads a status of wait(2): the low seven bits are the signal, the second byte the exit code. */
function decodeStatus(
  status: number,
): { by: 'exit'; code: number } | { by: 'signal'; signal: string } {
  const signal = status & 0x7f;
  if (signal === 0) return { by: 'exit', code: (status >> 8) & 0xff };
  return { by: 'signal', signal: signalName(signal) ?? `signal ${signal}` };
}
