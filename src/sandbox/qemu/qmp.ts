/** QEMU's control connection. Source: https://www.qemu.org/docs/master/interop/qmp-spec.html */

import { createInterface } from 'node:readline';
import type { Duplex } from 'node:stream';

interface Answer {
  return?: unknown;
  error?: { desc: string };
  event?: string;
  QMP?: unknown;
}

export class Qmp {
  readonly #stream: Duplex;
  readonly #waiting: { resolve: (value: unknown) => void; reject: (error: Error) => void }[] = [];
  #closed = false;

  private constructor(stream: Duplex) {
    this.#stream = stream;
    const lines = createInterface({ input: stream });
    lines.on('line', (line) => this.#take(JSON.parse(line) as Answer));
    // Its end is seen by 'close'; the reader tells errors of the stream once more.
    for (const each of [stream, lines]) each.on('error', () => {});
    stream.once('close', () => {
      this.#closed = true;
      for (const { reject } of this.#waiting.splice(0)) reject(new Error('QEMU ended'));
    });
  }

  static async open(stream: Duplex): Promise<Qmp> {
    const qmp = new Qmp(stream);
    await qmp.execute('qmp_capabilities');
    return qmp;
  }

  /** @throws Error with what QEMU said. */
  execute(command: string, values: object = {}): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#closed) return reject(new Error('QEMU ended'));
      this.#waiting.push({ resolve, reject });
      this.#stream.write(`${JSON.stringify({ execute: command, arguments: values })}\n`);
    });
  }

  #take({ error, event, QMP, ...answer }: Answer): void {
    if (event !== undefined || QMP !== undefined) return;
    const first = this.#waiting.shift();
    if (error !== undefined) first?.reject(new Error(error.desc));
    else first?.resolve(answer.return);
  }
}
