import type { Socket } from 'node:net';
import { type Frame, FrameReader, ProtocolViolation, Q } from './frames.js';
import { errorResponse, type Report } from './messages.js';

/** Ends a client: what it is told, as FATAL, and then nothing any more. */
export class Terminated extends Error {
  constructor(readonly report: Report) {
    super(report.message);
  }
}

/** Messages that wait in memory before the socket is read no further. */
const PAUSE_ABOVE_BYTES = 1024 * 1024;
/**
 * Answers that wait for a slow reader before the client is ended. Its statement is over by then and
 * the session is free; only memory is held.
 */
const UNREAD_LIMIT_BYTES = 256 * 1024 * 1024;

/** A client's messages in, answers out. */
export class Connection {
  readonly #frames: Frame[] = [];
  #queuedBytes = 0;
  #waiter: { resolve(frame: Frame | undefined): void; reject(error: Error): void } | undefined;
  #over = false;
  #terminated: Terminated | undefined;
  /** Called when the client is gone, even if it is not waited for. */
  onGone: () => void = () => {};
  /** Called when it was ended for not reading what it had asked for. */
  onUnread: () => void = () => {};

  /** @param rest what came after the startup packet. */
  constructor(
    private readonly socket: Socket,
    rest: Buffer,
  ) {
    const reader = new FrameReader();
    const data = (chunk: Buffer) => {
      try {
        this.#receive(reader.push(chunk));
      } catch (error) {
        if (!(error instanceof ProtocolViolation)) throw error;
        socket.off('data', data);
        this.terminate({ severity: 'FATAL', sqlstate: '08P01', message: error.message });
      }
    };
    socket.on('data', data);
    socket.on('end', () => this.#gone());
    socket.on('close', () => this.#gone());
    if (rest.length > 0) data(rest);
  }

  /** Whether the client has left or was ended. */
  get over(): boolean {
    return this.#over || this.#terminated !== undefined;
  }

  /**
   * @returns the client's next message; undefined when there will be none.
   * @throws Terminated
   */
  async next(): Promise<Frame | undefined> {
    if (this.#terminated) throw this.#terminated;
    const frame = this.#frames.shift();
    if (frame === undefined) {
      if (this.#over) return undefined;
      return new Promise((resolve, reject) => {
        this.#waiter = { resolve, reject };
      });
    }
    this.#queuedBytes -= frame.bytes.length;
    if (this.#queuedBytes <= PAUSE_ABOVE_BYTES && this.socket.isPaused()) this.socket.resume();
    return frame;
  }

  /** Puts back what `next` has given last. */
  unread(frame: Frame): void {
    this.#frames.unshift(frame);
    this.#queuedBytes += frame.bytes.length;
  }

  write(...messages: readonly Buffer[]): void {
    if (messages.length === 0 || !this.socket.writable) return;
    this.socket.write(messages.length === 1 ? messages[0]! : Buffer.concat(messages));
    if (this.socket.writableLength <= UNREAD_LIMIT_BYTES) return;
    this.socket.destroy();
    this.onUnread();
  }

  /** Ends the client at its next wait for a message, or at once if it waits for one. */
  terminate(report: Report): void {
    if (this.over) return;
    this.#terminated = new Terminated(report);
    this.#waiter?.reject(this.#terminated);
    this.#waiter = undefined;
    this.onGone();
  }

  /** Closes; @param report is the last thing that the client reads. */
  end(report?: Report): void {
    this.#over = true;
    if (report !== undefined && this.socket.writable) {
      this.socket.end(errorResponse(report));
    } else {
      this.socket.end();
    }
    // A client that does not close its side is not waited for.
    this.socket.resume();
    this.socket.setTimeout(CLOSE_WITHIN_MS, () => this.socket.destroy());
  }

  #receive(frames: readonly Frame[]): void {
    for (const frame of frames) {
      if (this.over) return;
      if (frame.type === Q.Terminate) {
        this.#gone();
        return;
      }
      this.#frames.push(frame);
      this.#queuedBytes += frame.bytes.length;
    }
    if (this.#queuedBytes > PAUSE_ABOVE_BYTES) this.socket.pause();
    if (this.#waiter === undefined || this.#frames.length === 0) return;
    const { resolve } = this.#waiter;
    this.#waiter = undefined;
    const frame = this.#frames.shift()!;
    this.#queuedBytes -= frame.bytes.length;
    resolve(frame);
  }

  #gone(): void {
    if (this.#over) return;
    this.#over = true;
    this.#waiter?.resolve(undefined);
    this.#waiter = undefined;
    this.onGone();
  }
}

const CLOSE_WITHIN_MS = 5_000;
