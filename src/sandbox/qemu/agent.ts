/** jobq-dev's side of the port to the guest's agent; agent.pl lists the frames. */
import { randomBytes } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { after } from '../deadline.js';
import { encodeFrame, FrameReader } from '../frames.js';

export interface Frame {
  letter: string;
  payload: Buffer;
}

/** The first bytes that reach a machine that was just restored are lost. */
const PADDING = Buffer.from('\n'.repeat(16));
const WAKE_EVERY_MS = 250;

export class Agent {
  readonly #port: Duplex;
  readonly #frames = new FrameReader();
  #listener: (frame: Frame) => void = () => {};

  constructor(port: Duplex) {
    this.#port = port;
    port.on('error', () => {}); // the machine's end is seen by its owner
    port.on('data', (chunk: Buffer) => {
      for (const frame of this.#frames.read(chunk)) this.#listener(frame);
    });
  }

  /** Who is given the frames that come from now on; there is one at a time. */
  listen(listener: (frame: Frame) => void): void {
    this.#listener = listener;
  }

  /** Resolves when the guest has room for more. */
  async send(letter: string, payload: Uint8Array | string = ''): Promise<void> {
    if (this.#port.destroyed || this.#port.write(encodeFrame(letter, payload))) return;
    await this.#room();
  }

  #waitingForRoom: Promise<void> | undefined;

  #room(): Promise<void> {
    this.#waitingForRoom ??= new Promise((resolve) => {
      const go = (): void => {
        this.#port.off('drain', go).off('close', go);
        this.#waitingForRoom = undefined;
        resolve();
      };
      this.#port.on('drain', go).on('close', go);
    });
    return this.#waitingForRoom;
  }

  /**
   * Asks until the guest answers, giving it the time of day and new random state: it may have been
   * restored from a snapshot that others were restored from as well.
   */
  async wake(ended: Promise<string>, patienceMs: number): Promise<void> {
    const ask = (): void => {
      // Nobody reads yet: more would only wait behind it.
      if (this.#port.writableNeedDrain) return;
      const nowMs = Date.now();
      const time = [Math.floor(nowMs / 1000), (nowMs % 1000) * 1e6];
      const seed = randomBytes(64).toString('hex');
      this.#port.write(PADDING);
      void this.send('S', [...time, seed].join('\0'));
    };
    const again = setInterval(ask, WAKE_EVERY_MS);
    ask();
    try {
      await this.#answer('R', ended, patienceMs);
    } finally {
      clearInterval(again);
    }
  }

  /** Sends a frame and waits for the answer. @returns what went wrong in the guest, or nothing. */
  async request(
    letter: string,
    payload: string | Uint8Array,
    ended: Promise<string>,
    patienceMs: number,
  ): Promise<{ kind: string; text: string } | undefined> {
    const answer = this.#answer('A', ended, patienceMs);
    await this.send(letter, payload);
    const said = (await answer).toString();
    if (said === '') return undefined;
    const [kind = '', text = ''] = said.split('\0');
    return { kind, text };
  }

  #answer(letter: string, ended: Promise<string>, patienceMs: number): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const cancel = after(patienceMs, () =>
        reject(new Error(`the guest did not answer within ${patienceMs} ms`)),
      );
      this.listen((frame) => {
        if (frame.letter !== letter) return;
        cancel();
        this.listen(() => {});
        resolve(Buffer.from(frame.payload));
      });
      void ended.then((reason) => {
        cancel();
        reject(new Error(reason));
      });
    });
  }
}
