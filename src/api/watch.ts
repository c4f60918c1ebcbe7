import type { Clock } from '../clock.js';
import type { Database } from '../db/port.js';
import type { Events } from '../events.js';
import { EventLog } from './event-log.js';
import { WaitingHistory } from './waiting-history.js';

/** What is kept in memory of what happens here, for whoever looks on. */
export class Watch {
  readonly log: EventLog;
  readonly history: WaitingHistory;

  constructor({ db, clock, events }: { db: Database; clock: Clock; events: Events }) {
    this.log = new EventLog(events, clock);
    this.history = new WaitingHistory(db, clock);
  }

  /** Ends every reader. Idempotent. */
  close(): void {
    this.history.stop();
    this.log.close();
  }
}
