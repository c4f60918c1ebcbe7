/** Holds the tables against what the drainers were told. */
import { Fault, type Tally } from './fault.js';
import type { Observation } from './observe.js';
import type { Call, OwnClaim } from './resolve.js';

/** What a drainer first said of an attempt, and whether it was told that the job was its own. */
export interface Word {
  verb: 'settle' | 'release';
  owned: boolean;
  outcome: string;
}

interface ClaimOnRecord extends OwnClaim {
  word?: Word;
  /** What was said of it after that. */
  again: Word[];
}

/** What the drainers were told, all together. */
export class Ledger {
  readonly calls: Call[] = [];
  readonly inserted = new Set<string>();
  readonly pruned = new Set<string>();
  readonly claims = new Map<string, ClaimOnRecord>();

  constructor(readonly tally: Tally) {}

  fault(rule: string, what: unknown): Fault {
    return new Fault(rule, typeof what === 'string' ? what : JSON.stringify(what), this.calls);
  }

  /** Holds the tables against what was told. */
  check(seen: Observation, { over = false }: { over?: boolean } = {}): void {
    for (const { invariant, what } of seen.broken) throw this.fault(invariant, what);
    const there = new Set(seen.jobs.map(({ id }) => id));
    for (const id of this.inserted) {
      if (there.has(id) === this.pruned.has(id)) {
        throw this.fault('an acknowledged job is there until it is pruned', `job ${id}`);
      }
    }
    for (const attempt of seen.attempts) {
      const word = this.claims.get(attempt.claim_id)?.word;
      const expected = word === undefined ? [null, 'lost'] : [word.outcome];
      if (!expected.includes(attempt.outcome)) {
        throw this.fault('the record of an attempt is what its drainer was told', {
          attempt,
          expected,
        });
      }
    }
    for (const { id, word, again } of this.claims.values()) {
      // Of a job that is gone nothing is known any more.
      if (word === undefined || this.pruned.has(id)) continue;
      const expected = ({ verb }: Word) => verb === word.verb && word.owned;
      const other = again.find((one) => one.owned !== expected(one));
      if (other === undefined) continue;
      throw this.fault('saying it again is answered as before', { id, word, other });
    }
    const left = seen.jobs.filter(({ status }) => status === 'pending' || status === 'running');
    if (over && left.length > 0) throw this.fault('every job comes to an end', left);
  }
}
