/** From a command, which names its target by number, to the call that it comes to. */
import type { Status } from '#src/job/job.js';
import type { Verdict } from '#src/queue/settle.js';
import type { Action } from './actions.js';
import type { ClaimChoice, Command, JobChoice } from './commands.js';

export interface OwnClaim {
  /** The drainer that claimed. */
  by: number;
  id: string;
  claimId: string;
}

/** What a command is given to choose its target from. */
export interface Known {
  /** Every id that was ever answered, those of pruned jobs included. */
  jobs: readonly string[];
  withStatus(...statuses: Status[]): readonly string[];
  /** Oldest first. */
  claims(options: { late: boolean }): readonly OwnClaim[];
}

/** A call, and the drainer that makes it. */
export interface Call {
  by: number;
  action: Action;
}

/**
 * @param clock the time by each drainer's clock.
 * @returns undefined when there is no target, or nothing to call.
 */
export function resolve(
  command: Command,
  known: Known,
  clock: (by: number) => Date,
): Call | undefined {
  switch (command.do) {
    case 'advance':
      return undefined;
    case 'settle':
    case 'release':
    case 'heartbeat':
      return resolveClaim(command, known, clock);
    case 'retry':
    case 'cancel':
    case 'edit':
      return resolveJob(command, known, clock);
    case 'enqueue': {
      const { by, broken } = command;
      const jobs = command.jobs.map(({ kind, delayMs, maxAttempts }, place) => ({
        kind,
        payload: broken && place === command.jobs.length - 1 ? '{"a":' : `{"n": ${place}}`,
        runAfter: delayMs === 0 ? undefined : after(clock(by), delayMs),
        maxAttempts,
      }));
      return { by, action: { verb: 'enqueue', jobs } };
    }
    case 'claim':
      return { by: command.by, action: { verb: 'claim', limit: command.limit } };
    case 'reap':
      return { by: command.by, action: { verb: 'reap', leaseMs: command.leaseMs } };
    case 'retryAll':
      return { by: command.by, action: { verb: 'retryAll', kind: command.kind } };
    case 'prune': {
      const { by, ageMs, count } = command;
      return { by, action: { verb: 'prune', keep: { ageMs, count } } };
    }
  }
}

function resolveClaim(
  command: Extract<Command, { do: 'settle' | 'release' | 'heartbeat' }>,
  known: Known,
  clock: (by: number) => Date,
): Call | undefined {
  if (command.do === 'heartbeat') {
    const beaten = command.claims.flatMap((choice) => chosenClaim(choice, known) ?? []);
    if (beaten[0] === undefined) return undefined;
    const claims = beaten.map(({ id, claimId }) => ({ id, claimId }));
    return { by: beaten[0].by, action: { verb: 'heartbeat', claims } };
  }
  const target = chosenClaim(command.claim, known);
  if (target === undefined) return undefined;
  const { by, id, claimId } = target;
  if (command.do === 'release') return { by, action: { verb: 'release', id, claimId } };
  const retryAt = after(clock(by), command.retryMs);
  const verdict = verdictOn(target, { ok: command.ok, how: command.how, retryAt });
  return { by, action: { verb: 'settle', verdict } };
}

/** What a drainer says of the attempt of its claim. */
export function verdictOn(
  { by, id, claimId }: OwnClaim,
  { ok, how, retryAt }: { ok: boolean; how: Verdict['outcome']; retryAt: Date },
): Verdict {
  const outcome = ok ? 'exited' : how;
  return {
    id,
    claimId,
    ok,
    outcome,
    exitCode: outcome === 'exited' ? (ok ? 0 : 1) : undefined,
    signal: outcome === 'signaled' ? 'SIGKILL' : undefined,
    error: ok ? null : `drainer ${by} saw it fail`,
    durationMs: 12,
    stdout: { text: `by ${by}`, totalBytes: 4 },
    stderr: { text: '', totalBytes: 0 },
    retryAt,
  };
}

const TAKEN_BY: Record<'retry' | 'cancel' | 'edit', Status[]> = {
  retry: ['dead'],
  cancel: ['pending', 'running'],
  edit: ['pending', 'done', 'dead'],
};

function resolveJob(
  command: Extract<Command, { do: 'retry' | 'cancel' | 'edit' }>,
  known: Known,
  clock: (by: number) => Date,
): Call | undefined {
  const { by } = command;
  const id = chosenJob(command.job, known, TAKEN_BY[command.do]);
  if (id === undefined) return undefined;
  if (command.do !== 'edit') return { by, action: { verb: command.do, id } };
  const { payload, delayMs, maxAttempts } = command;
  const runAfter = delayMs === undefined ? undefined : after(clock(by), delayMs);
  return { by, action: { verb: 'edit', id, changes: { payload, runAfter, maxAttempts } } };
}

function chosenClaim({ late, nth }: ClaimChoice, known: Known): OwnClaim | undefined {
  return pick(known.claims({ late }), nth) ?? pick(known.claims({ late: !late }), nth);
}

function chosenJob({ apt, nth }: JobChoice, known: Known, takes: Status[]): string | undefined {
  return (apt ? pick(known.withStatus(...takes), nth) : undefined) ?? pick(known.jobs, nth);
}

function pick<T>(from: readonly T[], nth: number): T | undefined {
  return from[nth % Math.max(from.length, 1)];
}

function after(time: Date, ms: number): Date {
  return new Date(time.getTime() + ms);
}
