import { cancel } from '#src/queue/cancel.js';
import { claim } from '#src/queue/claim.js';
import { edit } from '#src/queue/edit.js';
import { enqueue } from '#src/queue/enqueue.js';
import { heartbeat } from '#src/queue/heartbeat.js';
import { prune } from '#src/queue/prune.js';
import { reap } from '#src/queue/reap.js';
import { release } from '#src/queue/release.js';
import { retry, retryAll } from '#src/queue/retry.js';
import { settle } from '#src/queue/settle.js';

/** Everything that changes the table. One object, so that the searches can be given a broken one. */
export const VERBS = {
  cancel,
  claim,
  edit,
  enqueue,
  heartbeat,
  prune,
  reap,
  release,
  retry,
  retryAll,
  settle,
};

export type Verbs = typeof VERBS;
