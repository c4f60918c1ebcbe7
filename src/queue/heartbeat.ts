import type { Queryable } from '../db/port.js';

const SQL = `
update jobs set locked_at = greatest(locked_at, $3::timestamptz)
from unnest($1::bigint[], $2::uuid[]) as held(id, claim_id)
where jobs.id = held.id and jobs.status = 'running' and jobs.claim_id = held.claim_id
returning jobs.claim_id`;

/**
 * Renews the leases of claims whose attempts still run.
 * @returns the claim ids that are still held. An attempt whose claim is missing has lost its job
 *   (reaped or cancelled) and is to be killed.
 */
export async function heartbeat(
  db: Queryable,
  { claims, now }: { claims: readonly { id: string; claimId: string }[]; now: Date },
): Promise<Set<string>> {
  if (claims.length === 0) return new Set();
  const { rows } = await db.query<{ claim_id: string }>(SQL, [
    claims.map((held) => held.id),
    claims.map((held) => held.claimId),
    now,
  ]);
  return new Set(rows.map((row) => row.claim_id));
}
