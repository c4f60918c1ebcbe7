/** Plays one sequence on a real queue and on the model, and compares them after each step. */
import { isDeepStrictEqual } from 'node:util';
import type { Queryable } from '#src/db/port.js';
import type { Status } from '#src/job/job.js';
import { type Action, type Answer, act } from './actions.js';
import type { Command } from './commands.js';
import { Fault, type Tally } from './fault.js';
import { clear } from './invariants.js';
import { step } from './model.js';
import { type Observation, observe } from './observe.js';
import { type Call, type Known, type OwnClaim, resolve } from './resolve.js';
import { type JobRow, Tables } from './tables.js';
import type { Verbs } from './verbs.js';

const START_MS = Date.parse('2026-05-01T12:00:00Z');

/** How far each drainer's clock is off: no rule may depend on clocks that agree. */
const SKEW_MS = [0, -3_000, 3_000];

/**
 * @param connections one for each drainer.
 * @param options.model false: only the invariants are checked.
 * @throws Fault
 */
export async function play(
  commands: readonly Command[],
  connections: readonly Queryable[],
  verbs: Verbs,
  tally: Tally,
  { model = true }: { model?: boolean } = {},
): Promise<void> {
  const game = new Game();
  const db = connections[0]!;
  await clear(db);
  for (const command of commands) {
    if (command.do === 'advance') game.elapsedMs += command.ms;
    const call = resolve(command, game, (by) => game.now(by));
    if (call === undefined) continue;
    tally.steps += 1;
    if (game.isLate(call.action)) tally.late += 1;
    const answer = await game.make(call, () =>
      act(verbs, connections[call.by]!, call.action, game.now(call.by)),
    );
    if (call.action.verb === 'claim') tally.claimed += (answer as JobRow[]).length;
    game.see(await observe(db));
    if (model) game.compare(call, answer);
  }
}

class Game implements Known {
  readonly #model = new Tables();
  readonly #claims: OwnClaim[] = [];
  readonly #calls: Call[] = [];
  readonly #ids = new Set<string>();
  #seen: Observation = { jobs: [], attempts: [], broken: [] };
  elapsedMs = 0;

  get jobs(): readonly string[] {
    return [...this.#ids];
  }

  withStatus(...statuses: Status[]): string[] {
    return this.#seen.jobs.filter(({ status }) => statuses.includes(status)).map(({ id }) => id);
  }

  claims({ late }: { late: boolean }): OwnClaim[] {
    return this.#claims.filter(({ claimId }) => this.#isHeld(claimId) !== late);
  }

  now(by: number): Date {
    return new Date(START_MS + this.elapsedMs + SKEW_MS[by]!);
  }

  isLate(action: Action): boolean {
    if (action.verb === 'settle') return !this.#isHeld(action.verdict.claimId);
    if (action.verb === 'release') return !this.#isHeld(action.claimId);
    if (action.verb !== 'heartbeat') return false;
    return action.claims.some(({ claimId }) => !this.#isHeld(claimId));
  }

  async make(call: Call, work: () => Promise<Answer>): Promise<Answer> {
    this.#calls.push(call);
    let answer: Answer;
    try {
      answer = await work();
    } catch (error) {
      throw new Fault('a verb answers or refuses', String(error), this.#calls);
    }
    if (call.action.verb === 'claim') {
      for (const { id, claim_id } of answer as JobRow[]) {
        this.#claims.push({ by: call.by, id, claimId: claim_id! });
      }
    }
    return answer;
  }

  /** Takes the tables as they are now; throws when they break a rule. */
  see(seen: Observation): void {
    this.#seen = seen;
    for (const { id } of seen.jobs) this.#ids.add(id);
    for (const { invariant, what } of seen.broken) throw new Fault(invariant, what, this.#calls);
  }

  compare({ by, action }: Call, answer: Answer): void {
    const expected = step(this.#model, action, this.now(by).getTime(), answer);
    this.#compare(`what ${action.verb} answers`, answer, expected);
    this.#compare('the rows of jobs', this.#seen.jobs, [...this.#model.jobs.values()]);
    this.#compare('the rows of job_attempts', this.#seen.attempts, this.#model.history());
  }

  #isHeld(claimId: string): boolean {
    return this.#seen.jobs.some(({ claim_id }) => claim_id === claimId);
  }

  #compare(rule: string, seen: unknown, expected: unknown): void {
    if (isDeepStrictEqual(seen, expected)) return;
    const what = `it is\n${JSON.stringify(seen)}\nand should be\n${JSON.stringify(expected)}`;
    throw new Fault(rule, what, this.#calls);
  }
}
