/**
 * What a random sequence is made of: commands as plain data. A command names its target by number
 * ("the n-th of the claims that are lost"), so it means something whatever came before it, and
 * fast-check may leave out any other command while it looks for the shortest sequence that fails.
 */
import fc from 'fast-check';
import type { Verdict } from '#src/queue/settle.js';

/** Each has its own connection, and its own clock. */
export const DRAINERS = 3;
const LEASE_MS = 1_800_000;

/** Which claim: one that is still held, or one that was settled, given back or lost. */
export type ClaimChoice = { late: boolean; nth: number };
/** Which job: one that the verb takes, or any, those that are gone included. */
export type JobChoice = { apt: boolean; nth: number };

/** `by` is the drainer; what is done with a claim is done by the drainer that claimed it. */
export type Command =
  | { do: 'advance'; ms: number }
  | { do: 'enqueue'; by: number; jobs: NewJobDraft[]; broken: boolean }
  | { do: 'claim'; by: number; limit: number }
  | {
      do: 'settle';
      claim: ClaimChoice;
      ok: boolean;
      how: Verdict['outcome'];
      retryMs: number;
    }
  | { do: 'release'; claim: ClaimChoice }
  | { do: 'heartbeat'; claims: ClaimChoice[] }
  | { do: 'reap'; by: number; leaseMs: number }
  | { do: 'retry'; by: number; job: JobChoice }
  | { do: 'cancel'; by: number; job: JobChoice }
  | { do: 'retryAll'; by: number; kind: string | undefined }
  | {
      do: 'edit';
      by: number;
      job: JobChoice;
      payload: string | undefined;
      delayMs: number | undefined;
      maxAttempts: number | undefined;
    }
  | { do: 'prune'; by: number; ageMs: number | undefined; count: number | undefined };

interface NewJobDraft {
  kind: string;
  delayMs: number;
  maxAttempts: number | undefined;
}

type Fields<T> = { [Name in keyof T]: fc.Arbitrary<T[Name]> };
type Named<Name extends Command['do']> = Omit<Extract<Command, { do: Name }>, 'do'>;

function command<Name extends Command['do']>(
  name: Name,
  fields: Fields<Named<Name>>,
): fc.Arbitrary<Command> {
  const arbitrary = record({ do: fc.constant(name), ...fields });
  return arbitrary as unknown as fc.Arbitrary<Command>;
}

/** Objects that print as they are written. */
function record<T extends object>(fields: Fields<T>): fc.Arbitrary<T> {
  return fc.record(fields, { noNullPrototype: true }) as fc.Arbitrary<T>;
}

const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });

const by = fc.nat({ max: DRAINERS - 1 });
const nth = fc.nat({ max: 9 });
const kind = fc.constantFrom('a', 'b');
const span = fc.constantFrom(0, 1, 60_000, LEASE_MS / 3, LEASE_MS - 1, LEASE_MS, 7 * 86_400_000);
const attempts = optional(fc.constantFrom(1, 2, 3, 0));
const claim = record<ClaimChoice>({ late: fc.boolean(), nth });
// By hand: three times in four a job that the verb takes, else whichever.
const job = record<JobChoice>({ apt: fc.nat({ max: 3 }).map((n) => n > 0), nth });

const newJobs = (delayMs: fc.Arbitrary<number>) =>
  fc.array(record<NewJobDraft>({ kind, delayMs, maxAttempts: attempts }), {
    minLength: 1,
    maxLength: 4,
  });

export const enqueue = command('enqueue', {
  by,
  jobs: fc.oneof(
    { weight: 3, arbitrary: newJobs(fc.constant(0)) },
    { weight: 1, arbitrary: newJobs(span) },
  ),
  broken: fc.nat({ max: 19 }).map((n) => n === 19),
});

/** Any command but `advance`; what a drainer does with its claims comes most often. */
export const call = fc.oneof(
  { weight: 5, arbitrary: enqueue },
  { weight: 10, arbitrary: command('claim', { by, limit: fc.nat({ max: 4 }) }) },
  {
    weight: 14,
    arbitrary: command('settle', {
      claim,
      ok: fc.boolean(),
      how: fc.constantFrom<Verdict['outcome'][]>('exited', 'signaled', 'timeout', 'lost'),
      retryMs: span,
    }),
  },
  { weight: 5, arbitrary: command('release', { claim }) },
  {
    weight: 4,
    arbitrary: command('heartbeat', { claims: fc.array(claim, { minLength: 1, maxLength: 4 }) }),
  },
  // Half of the time with no lease at all: then every drainer is late as soon as it is slow.
  { weight: 5, arbitrary: command('reap', { by, leaseMs: fc.constantFrom(0, LEASE_MS) }) },
  { weight: 3, arbitrary: command('retry', { by, job }) },
  { weight: 1, arbitrary: command('retryAll', { by, kind: optional(kind) }) },
  { weight: 3, arbitrary: command('cancel', { by, job }) },
  {
    weight: 4,
    arbitrary: command('edit', {
      by,
      job,
      // jsonb as Postgres prints it, but for the last, which is none
      payload: optional(fc.constantFrom('{}', '{"id": 1970670598291982290}', '[1.10]', '{"a":')),
      delayMs: optional(span),
      maxAttempts: attempts,
    }),
  },
  {
    weight: 3,
    arbitrary: command('prune', {
      by,
      ageMs: optional(span),
      count: optional(fc.nat({ max: 1 })),
    }),
  },
);

/** Up to thirty-one commands, the first of which enqueues. */
export const sequence: fc.Arbitrary<Command[]> = fc
  .tuple(
    enqueue,
    fc.array(
      fc.oneof(
        { weight: 1, arbitrary: command('advance', { ms: span }) },
        { weight: 12, arbitrary: call },
      ),
      { maxLength: 30, size: 'max' },
    ),
  )
  .map(([first, rest]) => [first, ...rest]);
