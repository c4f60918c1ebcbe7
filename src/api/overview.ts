/** What runs here, and how it stands, in one look. */
import { handlerExtensions, knownKinds } from '../drain/handler.js';
import type { Stats } from '../queue/stats.js';
import type { Info, Overview, Running } from './contract.js';
import { jobLine } from './job-line.js';
import type { ServiceOptions } from './service-options.js';

/** @param readStats asks the database. */
export async function overview(
  world: ServiceOptions,
  readStats: () => Promise<Stats>,
): Promise<Overview> {
  const { log, history } = world.watch;
  const { handlersDir, interpreters } = world;
  const handler_kinds = await knownKinds(handlersDir, handlerExtensions(interpreters));
  const { next_run_after, ...stats } = await readStats();
  // Taken together, after the counts: what they contain has been told by now.
  const event_id = log.lastId;
  const attempts = running(world);
  return {
    info: info(world),
    handler_kinds,
    stats: { ...stats, next_run_after: next_run_after?.toISOString() ?? null },
    running: attempts,
    history: history.samples,
    event_id,
  };
}

/** The attempts that run here, oldest first. */
function running({ watch, held, timeoutMs }: ServiceOptions): Running[] {
  return held().map(({ claim, provider, startedAt }) => ({
    job: jobLine(claim),
    claim_id: claim.claim_id,
    provider: provider.name,
    isolation: provider.enforces.isolation,
    started_at: startedAt.toISOString(),
    timeout_ms: timeoutMs,
    last_output: watch.log.output.lastLine(claim.claim_id),
  }));
}

export function info(world: ServiceOptions): Info {
  const { db, clock, cron, control, schedule } = world;
  const { http = null, postgres = null } = world.addresses();
  const provider = world.provider();
  return {
    version: world.version,
    pid: process.pid,
    database: { driver: db.driver, location: db.location },
    sandbox: {
      provider: provider?.name ?? 'none yet',
      description: provider?.description ?? 'none yet',
      isolation: provider?.enforces.isolation ?? 'none',
    },
    handlers: world.handlersDir,
    cron: {
      expression: schedule.expression,
      timezone: schedule.timezone,
      next_tick: cron?.next?.toISOString() ?? null,
      paused: control?.paused ?? false,
      wake: world.wake,
    },
    concurrency: world.concurrency,
    timeout_ms: world.timeoutMs,
    lease_ms: world.leaseMs,
    alert_age_ms: world.alertAgeMs,
    urls: { http, postgres },
    clock_offset_ms: clock.offsetMs,
    now: clock.now().toISOString(),
  };
}
