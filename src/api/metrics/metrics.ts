/**
 * `GET /metrics`. What happens is sampled from the start; the library that sums it up is loaded
 * when somebody asks, or when much has gathered: it takes longer to load than everything else of
 * the API together.
 */
import type { Queryable } from '../../db/port.js';
import type { EventMap, Events } from '../../events.js';
import { STATUSES } from '../../job/job.js';
import { depthByKind } from '../../queue/depth.js';
import type { Stats } from '../../queue/stats.js';
import type { Info } from '../contract.js';
import type { Exporter, Reading } from './exporter.js';
import { SAMPLERS, type Sample } from './samples.js';

/** Samples that are kept before the exporter is loaded for them. */
const KEPT = 2_000;
/** Jobs that are counted by kind, at most. */
const COUNTED_BY_KIND = 100_000;

export interface MetricsSources {
  db: Queryable;
  events: Events;
  stats: () => Promise<Stats>;
  info: () => Info;
  running: () => number;
}

export class Metrics {
  #kept: Sample[] = [];
  #exporter: Exporter | undefined;
  #loading: Promise<Exporter> | undefined;

  constructor(private readonly sources: MetricsSources) {
    const samplers = Object.entries(SAMPLERS) as [
      keyof EventMap,
      (event: unknown) => readonly Sample[],
    ][];
    for (const [name, sample] of samplers) {
      sources.events.on(name, (event: unknown) => {
        for (const one of sample(event)) this.#take(one);
      });
    }
  }

  async text(): Promise<{ type: string; text: string }> {
    const [exporter, queue] = await Promise.all([this.#load(), this.#readQueue()]);
    const text = await exporter.write([...this.#readEmulator(), ...queue]);
    return { type: exporter.contentType, text };
  }

  #take(sample: Sample): void {
    if (this.#exporter !== undefined) {
      this.#exporter.add(sample);
      return;
    }
    this.#kept.push(sample);
    if (this.#kept.length >= KEPT) void this.#load();
  }

  #load(): Promise<Exporter> {
    this.#loading ??= import('./exporter.js').then(({ Exporter }) => {
      this.#exporter = new Exporter();
      for (const sample of this.#kept) this.#exporter.add(sample);
      this.#kept = [];
      return this.#exporter;
    });
    return this.#loading;
  }

  #readEmulator(): Reading[] {
    const { info, running } = this.sources;
    const { version, database, sandbox, cron, concurrency, clock_offset_ms } = info();
    const about = {
      version,
      database: database.driver,
      sandbox: sandbox.provider,
      isolation: sandbox.isolation,
    };
    return [
      { name: 'jobq_info', labels: about, value: 1 },
      { name: 'jobq_running_attempts', value: running() },
      { name: 'jobq_concurrency', value: concurrency },
      { name: 'jobq_clock_offset_seconds', value: clock_offset_ms / 1_000 },
      { name: 'jobq_paused', value: cron.paused ? 1 : 0 },
    ];
  }

  /** A database that is away takes its numbers with it; the counters are still told. */
  async #readQueue(): Promise<Reading[]> {
    try {
      const { counts, due, oldest_waiting_ms } = await this.sources.stats();
      const depths = await depthByKind(this.sources.db, { limit: COUNTED_BY_KIND });
      return [
        { name: 'jobq_database_up', value: 1 },
        { name: 'jobq_due_jobs', value: due },
        { name: 'jobq_oldest_waiting_seconds', value: (oldest_waiting_ms ?? 0) / 1_000 },
        ...STATUSES.map(
          (status): Reading => ({ name: 'jobq_jobs', labels: { status }, value: counts[status] }),
        ),
        ...depths.map(
          ({ status, kind, jobs }): Reading => ({
            name: 'jobq_queue_depth',
            labels: { status, kind },
            value: jobs,
          }),
        ),
      ];
    } catch {
      return [{ name: 'jobq_database_up', value: 0 }];
    }
  }
}
