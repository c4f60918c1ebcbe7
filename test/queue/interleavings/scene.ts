/** What the scenes of all interleavings begin with: jobs, claims, and what is said of them. */
import { expect } from 'vitest';
import type { Queryable } from '#src/db/port.js';
import type { Attempt, Job } from '#src/job/job.js';
import type { Claim } from '#src/queue/claim.js';
import type { NewJob } from '#src/queue/enqueue.js';
import { showJob } from '#src/queue/inspect.js';
import type { Verdict } from '#src/queue/settle.js';
import { freshDatabaseUrl } from '../../support/postgres.js';
import { PROVIDER } from '../model/actions.js';
import { installReferee } from '../model/invariants.js';
import { observe } from '../model/observe.js';
import type { Verbs } from '../model/verbs.js';
import { type Actor, GATES_OF_JOBS, Stage } from './stage.js';

export const LEASE_MS = 1_800_000;
/** In seconds. */
export const LEASE = LEASE_MS / 1_000;

/** The moment `seconds` after the start. */
export const at = (seconds: number) =>
  new Date(Date.parse('2026-05-01T12:00:00Z') + seconds * 1_000);

export interface Interleaving {
  name: string;
  play(scene: Scene): Promise<void>;
}

/** @returns the URL of a database to play on, one scene after the other. */
export async function preparedDatabaseUrl(): Promise<string> {
  const url = await freshDatabaseUrl();
  const stage = await Stage.open(url, GATES_OF_JOBS);
  await installReferee(stage.db);
  await stage.close();
  return url;
}

/** Plays it from the beginning. @throws when it does not come out as it must. */
export async function playOn(
  databaseUrl: string,
  { play }: Interleaving,
  verbs: Verbs,
): Promise<void> {
  const stage = await Stage.open(databaseUrl);
  try {
    await stage.db.exec('truncate jobs, job_attempts, referee restart identity');
    await play(new Scene(stage, verbs));
    const { broken } = await observe(stage.db);
    expect(broken).toEqual([]);
  } finally {
    await stage.close();
  }
}

export class Scene {
  readonly db: Queryable;

  constructor(
    readonly stage: Stage,
    readonly verbs: Verbs,
  ) {
    this.db = stage.db;
  }

  actor(options?: Parameters<Stage['actor']>[0]): Promise<Actor> {
    return this.stage.actor(options);
  }

  /** @returns their ids. */
  enqueue(...jobs: Partial<NewJob>[]): Promise<string[]> {
    const filled = jobs.map((job) => ({ kind: 'work', payload: '{}', ...job }));
    return this.verbs.enqueue(this.db, { jobs: filled, now: at(0) });
  }

  claim(db: Queryable, { limit = 1, seconds = 0 } = {}): Promise<Claim[]> {
    return this.verbs.claim(db, { limit, now: at(seconds), ...PROVIDER });
  }

  /** One job with its claim, `seconds` after the start. */
  async claimed(seconds = 0): Promise<Claim> {
    const [claim] = await this.claim(this.db, { seconds });
    expect(claim).toBeDefined();
    return claim!;
  }

  reap(db: Queryable, seconds: number) {
    return this.verbs.reap(db, { now: at(seconds), leaseMs: LEASE_MS });
  }

  settle(db: Queryable, claim: Claim, seconds: number, error: string | null = null) {
    const verdict: Verdict = {
      id: claim.id,
      claimId: claim.claim_id,
      ok: error === null,
      outcome: 'exited',
      exitCode: error === null ? 0 : 1,
      error,
      durationMs: 12,
      stdout: { text: '', totalBytes: 0 },
      stderr: { text: '', totalBytes: 0 },
      retryAt: at(seconds + 60),
    };
    return this.verbs.settle(db, verdict, { now: at(seconds) });
  }

  release(db: Queryable, { id, claim_id: claimId }: Claim, seconds: number) {
    return this.verbs.release(db, { id, claimId, now: at(seconds) });
  }

  heartbeat(db: Queryable, { id, claim_id: claimId }: Claim, seconds: number) {
    return this.verbs.heartbeat(db, { claims: [{ id, claimId }], now: at(seconds) });
  }

  job(id: string): Promise<Job & { attempts_log: Attempt[] }> {
    return showJob(this.db, id);
  }
}
