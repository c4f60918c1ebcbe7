/**
 * Plays sequences at the same time, each by a drainer of its own. Nobody can say which of them comes
 * first, so there is no model: what must hold is every invariant, and what each drainer was told.
 */
import fc from 'fast-check';
import type { Queryable } from '#src/db/port.js';
import { type Action, type Answer, type Answers, act } from './actions.js';
import { type Command, call, DRAINERS, enqueue } from './commands.js';
import type { Tally } from './fault.js';
import { clear } from './invariants.js';
import { Ledger, type Word } from './ledger.js';
import { observe } from './observe.js';
import { type Known, type OwnClaim, resolve, verdictOn } from './resolve.js';
import type { JobRow } from './tables.js';
import type { Verbs } from './verbs.js';

const NOW = new Date('2026-05-01T12:00:00Z');
const MUCH_LATER = new Date('2027-05-01T12:00:00Z');

/** Some jobs to begin with, and what each drainer does then. */
export interface Race {
  jobs: Command[];
  lanes: Command[][];
}

export const race: fc.Arbitrary<Race> = fc.record(
  {
    jobs: fc.array(enqueue, { minLength: 1, maxLength: 2 }),
    lanes: fc.array(fc.array(call, { minLength: 1, maxLength: 10, size: 'max' }), {
      minLength: 2,
      maxLength: DRAINERS,
    }),
  },
  { noNullPrototype: true },
);

/**
 * @param connections one for each drainer.
 * @throws Fault
 */
export async function playTogether(
  { jobs, lanes }: Race,
  connections: readonly Queryable[],
  verbs: Verbs,
  tally: Tally,
): Promise<void> {
  await clear(connections[0]!);
  const ledger = new Ledger(tally);
  const drainers = connections.map((db, by) => new Drainer(by, db, verbs, ledger));
  for (const command of jobs) await drainers[0]!.run(command);
  const ends = await Promise.allSettled(
    lanes.map(async (commands, by) => {
      for (const command of commands) await drainers[by]!.run(command);
    }),
  );
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
  ledger.check(await observe(connections[0]!));
  await drainers[0]!.drainAll();
  ledger.check(await observe(connections[0]!), { over: true });
}

class Drainer implements Known {
  readonly #own: string[] = [];

  constructor(
    private readonly by: number,
    private readonly db: Queryable,
    private readonly verbs: Verbs,
    private readonly ledger: Ledger,
  ) {}

  get jobs(): readonly string[] {
    return [...this.ledger.inserted];
  }

  /** Not known to a drainer. */
  withStatus(): readonly string[] {
    return [];
  }

  claims({ late }: { late: boolean }): OwnClaim[] {
    return this.#own
      .map((claimId) => this.ledger.claims.get(claimId)!)
      .filter(({ word }) => (word !== undefined) === late);
  }

  async run(command: Command): Promise<void> {
    const found = resolve(command, this, () => NOW);
    if (found !== undefined) await this.#call(found.action, NOW);
  }

  /** Takes over from everybody, until nothing is left to do. */
  async drainAll(): Promise<void> {
    await this.#call({ verb: 'reap', leaseMs: 0 }, MUCH_LATER);
    while (((await this.#call({ verb: 'claim', limit: 100 }, MUCH_LATER)) as []).length > 0) {
      for (const claim of this.claims({ late: false })) {
        const verdict = verdictOn(claim, { ok: true, how: 'exited', retryAt: MUCH_LATER });
        await this.#call({ verb: 'settle', verdict }, MUCH_LATER);
      }
    }
  }

  async #call(action: Action, now: Date): Promise<Answer> {
    const { ledger } = this;
    ledger.calls.push({ by: this.by, action });
    ledger.tally.steps += 1;
    let answer: Answer;
    try {
      answer = await act(this.verbs, this.db, action, now);
    } catch (error) {
      throw ledger.fault('a verb answers or refuses', String(error));
    }
    if (typeof answer !== 'object' || !('refused' in answer)) this.#note(action, answer);
    return answer;
  }

  #note(action: Action, answer: Exclude<Answer, { refused: unknown }>): void {
    const { ledger } = this;
    switch (action.verb) {
      case 'enqueue':
        for (const id of answer as Answers['enqueue']) ledger.inserted.add(id);
        break;
      case 'edit':
        ledger.inserted.add((answer as JobRow).id);
        break;
      case 'prune':
        for (const id of answer as Answers['prune']) ledger.pruned.add(id);
        break;
      case 'claim':
        this.#claimed(answer as JobRow[], action.limit);
        break;
      case 'settle': {
        const { owned } = answer as Answers['settle'];
        this.#said(action.verdict.claimId, {
          verb: 'settle',
          owned,
          outcome: owned ? action.verdict.outcome : 'superseded',
        });
        break;
      }
      case 'release': {
        const owned = answer as boolean;
        const outcome = owned ? 'released' : 'superseded';
        this.#said(action.claimId, { verb: 'release', owned, outcome });
        break;
      }
    }
  }

  #claimed(jobs: readonly JobRow[], limit: number): void {
    const { ledger, by } = this;
    if (jobs.length > limit) throw ledger.fault('a claim takes its limit at most', jobs);
    ledger.tally.claimed += jobs.length;
    for (const { id, claim_id } of jobs) {
      const claimId = claim_id!;
      if (ledger.claims.has(claimId)) throw ledger.fault('a claim has one owner', claimId);
      ledger.claims.set(claimId, { by, id, claimId, again: [] });
      this.#own.push(claimId);
    }
  }

  /** The first word counts. */
  #said(claimId: string, word: Word): void {
    const claim = this.ledger.claims.get(claimId)!;
    if (claim.word === undefined) {
      claim.word = word;
      if (!word.owned) this.ledger.tally.late += 1;
    } else {
      claim.again.push(word);
    }
  }
}
