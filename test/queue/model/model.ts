/**
 * The queue as docs/architecture.md has it, in memory: no SQL, no concurrency, one plain step for
 * each verb. What it answers, and what its rows are after each step, is what the real one must
 * answer and hold.
 */
import type { Action, Answer } from './actions.js';
import { claim, heartbeat, reap, release, settle } from './drainer-verbs.js';
import { cancel, edit, enqueue, prune, retry, retryAll } from './hand-verbs.js';
import type { Tables } from './tables.js';

/**
 * Takes one step.
 * @param answer what the real queue answered: ids are its to choose, so they are read from it.
 * @returns what it should have answered.
 */
export function step(tables: Tables, action: Action, now: number, answer: Answer): Answer {
  switch (action.verb) {
    case 'enqueue':
      return enqueue(tables, action.jobs, now, Array.isArray(answer) ? (answer as string[]) : []);
    case 'claim':
      return claim(tables, action.limit, now, Array.isArray(answer) ? (answer as never[]) : []);
    case 'settle':
      return settle(tables, action.verdict, now);
    case 'release':
      return release(tables, action.claimId, now);
    case 'heartbeat':
      return heartbeat(tables, action.claims, now);
    case 'reap':
      return reap(tables, action.leaseMs, now);
    case 'retry':
      return retry(tables, action.id, now);
    case 'retryAll':
      return retryAll(tables, action.kind, now);
    case 'cancel':
      return cancel(tables, action.id, now);
    case 'edit': {
      const copyId = typeof answer === 'object' && 'id' in answer ? answer.id : 'an id';
      return edit(tables, action.id, action.changes, now, copyId);
    }
    case 'prune':
      return prune(tables, action.keep, now);
  }
}
