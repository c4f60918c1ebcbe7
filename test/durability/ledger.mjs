// @ts-check
/** What the product has acknowledged, and whether the table still says so. */

/**
 * A job as the API gives it.
 * @typedef {{ id: string, status: string, attempts: number, payload: { key?: string } }} Job
 */

export class Ledger {
  /** Ids of acknowledged inserts, by the key in the payload. @type {Map<string, string>} */
  inserted = new Map();
  /** Sent, and no answer came: it may be there or not. @type {Set<string>} */
  unanswered = new Set();
  /** Final states that were announced, by id. @type {Map<string, string>} */
  settled = new Map();
  #keys = 0;

  /** A key for a job that is about to be sent. */
  newKey() {
    this.#keys += 1;
    const key = `k${this.#keys}`;
    this.unanswered.add(key);
    return key;
  }

  /** @param {string} key @param {string} id */
  acknowledge(key, id) {
    this.unanswered.delete(key);
    this.inserted.set(key, id);
  }

  /** @param {{ event: string, id?: string, status?: string }} line of the emulator's --json */
  note({ event, id, status }) {
    if (event !== 'settled' || id === undefined) return;
    if (status === 'done' || status === 'dead') this.settled.set(id, status);
  }

  /**
   * @param {readonly Job[]} jobs every job of the table
   * @param {ReadonlyMap<string, string>} settled what was `settled` before the table was asked for:
   *   attempts end while it is read
   * @returns {string[]} what is not as it was acknowledged
   */
  faults(jobs, settled) {
    const byId = new Map(jobs.map((job) => [job.id, job]));
    const faults = [];
    for (const [key, id] of this.inserted) {
      const found = byId.get(id);
      if (found === undefined) faults.push(`job ${id} (${key}) was acknowledged and is gone`);
      else if (found.payload.key !== key) faults.push(`job ${id} holds ${found.payload.key}`);
    }
    for (const [id, status] of settled) {
      const now = byId.get(id)?.status;
      if (now !== undefined && now !== status) faults.push(`job ${id} was ${status} and is ${now}`);
    }
    const keys = new Set();
    for (const { id, payload } of jobs) {
      if (payload.key === undefined) continue;
      if (keys.has(payload.key)) faults.push(`job ${id} is a second ${payload.key}`);
      keys.add(payload.key);
      const known = this.inserted.has(payload.key) || this.unanswered.has(payload.key);
      if (!known) faults.push(`job ${id} holds ${payload.key}, which nobody has sent`);
    }
    return faults;
  }

  /** Jobs that are there though their answer never came. @param {readonly Job[]} jobs */
  keptUnanswered(jobs) {
    return jobs.filter(({ payload: { key } }) => key !== undefined && this.unanswered.has(key))
      .length;
  }
}
