import type { Notification } from '../db/protocol.js';
import { notificationResponse } from './messages.js';

export interface Listener {
  notify(message: Buffer): void;
}

/** Who listens on what. The engine listens on everything that any client does. */
export class Listeners {
  readonly #byChannel = new Map<string, Set<Listener>>();

  channels(): Iterable<string> {
    return this.#byChannel.keys();
  }

  add(listener: Listener, channel: string): void {
    const set = this.#byChannel.get(channel) ?? new Set();
    set.add(listener);
    this.#byChannel.set(channel, set);
  }

  remove(listener: Listener, channel: string): void {
    const set = this.#byChannel.get(channel);
    set?.delete(listener);
    if (set?.size === 0) this.#byChannel.delete(channel);
  }

  /** @param pid who notifies. @param except gets it elsewhere. */
  deliver({ channel, payload }: Notification, pid: number, except?: Listener): void {
    const set = this.#byChannel.get(channel);
    if (set === undefined) return;
    const message = notificationResponse(pid, channel, payload);
    for (const listener of set) if (listener !== except) listener.notify(message);
  }
}
