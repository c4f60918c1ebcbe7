/** Bursts that the emulator plays into its own queue, in real time. */
import path from 'node:path';
import type { ReplayStarted } from './api/contract.js';
import type { Service } from './api/service.js';
import type { Events } from './events.js';

export class LiveReplays {
  readonly #stop = new AbortController();
  readonly #playing = new Set<Promise<void>>();
  #count = 0;

  constructor(
    private readonly service: () => Service,
    private readonly events: Events,
  ) {}

  /**
   * Checks the whole fixture, then sends its jobs as they came, `speed` times as fast.
   * @param file relative to where the emulator was started, or absolute.
   * @throws JobqError `input`, naming the first bad line; nothing was sent then.
   */
  async start(file: string, speed: number): Promise<ReplayStarted> {
    // Loaded when asked for: most emulators play nothing.
    const [{ checkFixture }, { playLive }, { inProcess }, { createApp }] = await Promise.all([
      import('./replay/fixture.js'),
      import('./replay/live.js'),
      import('./api/client.js'),
      import('./api/app.js'),
    ]);
    const fixture = path.resolve(file);
    const { jobs } = await checkFixture(fixture);
    this.#count += 1;
    const send = inProcess(createApp(this.service()));
    const playing = playLive({ fixture, send, speed, signal: this.#stop.signal })
      .catch((error: Error) => {
        this.events.emit('warning', { message: `the replay of ${fixture}: ${error.message}` });
      })
      .then(() => void this.#playing.delete(playing));
    this.#playing.add(playing);
    return { id: String(this.#count), jobs };
  }

  /** Sends no more; what was sent stays. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#playing);
  }
}
