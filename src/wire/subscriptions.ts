import type { Connection } from './connection.js';
import type { Listener, Listeners } from './listeners.js';

interface Change {
  kind: 'listen' | 'unlisten';
  /** Undefined is all. */
  channel: string | undefined;
}

/** What one client listens on. A LISTEN counts from the end of its transaction, if that commits. */
export class Subscriptions implements Listener {
  readonly #channels = new Set<string>();
  #changes: Change[] = [];

  constructor(
    private readonly listeners: Listeners,
    private readonly connection: Connection,
  ) {}

  notify(message: Buffer): void {
    this.connection.write(message);
  }

  change(change: Change): void {
    this.#changes.push(change);
  }

  /** Whether the client gets what its own transaction says on a channel. */
  hears(channel: string): boolean {
    return (
      this.#channels.has(channel) ||
      this.#changes.some((change) => change.kind === 'listen' && change.channel === channel)
    );
  }

  /** The transaction is over. */
  settle(committed: boolean): void {
    const changes = this.#changes;
    if (changes.length === 0) return;
    this.#changes = [];
    if (!committed) return;
    for (const { kind, channel } of changes) {
      if (kind === 'unlisten') this.stop(channel);
      else if (channel !== undefined && !this.#channels.has(channel)) {
        this.#channels.add(channel);
        this.listeners.add(this, channel);
      }
    }
  }

  /** @param channel undefined for all. */
  stop(channel?: string): void {
    for (const one of channel === undefined ? [...this.#channels] : [channel]) {
      if (this.#channels.delete(one)) this.listeners.remove(this, one);
    }
  }
}
