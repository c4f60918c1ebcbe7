import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { createApp } from '#src/api/app.js';
import { Metrics } from '#src/api/metrics/metrics.js';
import { Service } from '#src/api/service.js';
import { exited } from '../support/fake-provider.js';
import { claimed, settle } from './events.js';
import { apiWorld } from './world.js';

const world = apiWorld();

/** A line of the text format: name, labels, value. */
const LINE = /^([a-z_]+)(?:\{((?:[a-z_]+="(?:[^"\\\n]|\\["\\n])*",?)*)\})? (\S+)$/;

/** Metrics over the test's world, and what they say, by name and labels. */
function measured(more: Partial<ConstructorParameters<typeof Metrics>[0]> = {}) {
  const service: Service = new Service({
    ...world.options,
    get metrics() {
      return metrics;
    },
  });
  const metrics = new Metrics({
    db: world.db,
    events: world.events,
    stats: () => service.stats(),
    info: () => service.info(),
    running: () => world.options.held().length,
    ...more,
  });
  const app = createApp(service);
  const read = async () => {
    const response = await app.request('http://127.0.0.1/metrics', {
      headers: { host: '127.0.0.1' },
    });
    expect(response.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
    const values = new Map<string, number>();
    for (const line of (await response.text()).split('\n')) {
      if (line === '' || line.startsWith('#')) continue;
      const [, name, labels = '', value] = LINE.exec(line) ?? [];
      expect(name, line).toBeDefined();
      values.set(labels === '' ? name! : `${name}{${labels}}`, Number(value));
    }
    return values;
  };
  const post = (path: string, body?: object) =>
    app.request(`http://127.0.0.1${path}`, {
      method: 'POST',
      headers: { host: '127.0.0.1' },
      ...(body && { body: JSON.stringify(body) }),
    });
  return { read, post };
}

describe('GET /metrics', () => {
  it('tells what was done and how the queue stands', async () => {
    world.provider.answer = (run) =>
      exited(run.label === 'job 2' ? 1 : 0, run.label === 'job 2' ? 'no' : '');
    const { read, post } = measured();
    await post('/jobs', [
      { kind: 'work', count: 2, max_attempts: 1 },
      { kind: 'none', max_attempts: 2 },
    ]);
    await world.db.query("update jobs set run_after = run_after - interval '90 seconds'");
    const before = await read();
    expect(before.get('jobq_oldest_waiting_seconds')).toBeGreaterThanOrEqual(90);
    expect(before.get('jobq_oldest_waiting_seconds')).toBeLessThan(200);
    expect(before.get('jobq_queue_depth{status="pending",kind="work"}')).toBe(2);
    expect(before.get('jobq_due_jobs')).toBe(3);
    await post('/drain');
    const after = await read();
    expect(Object.fromEntries(after)).toMatchObject({
      jobq_enqueued_total: 3,
      'jobq_claims_total{kind="work"}': 2,
      'jobq_attempts_total{kind="work",outcome="exited",result="done"}': 1,
      'jobq_attempts_total{kind="work",outcome="exited",result="dead"}': 1,
      'jobq_attempts_total{kind="none",outcome="exited",result="retried"}': 1,
      'jobq_attempt_duration_seconds_count{kind="work"}': 2,
      'jobq_attempt_duration_seconds_bucket{le="0.005",kind="work"}': 2,
      'jobq_sandbox_start_seconds_count{provider="process"}': 2,
      'jobq_ticks_total{cause="by hand"}': 1,
      'jobq_jobs{status="done"}': 1,
      'jobq_jobs{status="dead"}': 1,
      'jobq_queue_depth{status="dead",kind="work"}': 1,
      'jobq_queue_depth{status="pending",kind="none"}': 1,
      jobq_oldest_waiting_seconds: 0,
      jobq_due_jobs: 0,
      jobq_running_attempts: 0,
      jobq_concurrency: 2,
      jobq_paused: 0,
      jobq_database_up: 1,
      'jobq_info{version="0.0.0",database="pglite",sandbox="process",isolation="none"}': 1,
    });
    expect([...after.keys()].some((name) => name.includes('duration') && /none/.test(name))).toBe(
      false,
    );
    expect(after.has('jobq_queue_depth{status="pending",kind="work"}')).toBe(false);
  });

  it('counts late finishers, releases, reaps and the lateness of ticks', async () => {
    const { read } = measured();
    const at = new Date();
    const job = claimed('1');
    world.events.emit('superseded', { at, job, outcome: { kind: 'timeout', afterMs: 1 } });
    world.events.emit('released', { at, job });
    world.events.emit('reaped', { at, job, why: 'lease' });
    world.events.emit('reaped', { at, job, why: 'exhausted' });
    world.events.emit('tick', { at, cause: 'schedule', lateMs: 20 });
    world.events.emit('tick', { at, cause: 'catch-up', lateMs: 6 * 3_600_000 });
    expect(Object.fromEntries(await read())).toMatchObject({
      jobq_superseded_total: 1,
      jobq_released_total: 1,
      'jobq_reaped_total{why="lease"}': 1,
      'jobq_reaped_total{why="exhausted"}': 1,
      'jobq_ticks_total{cause="catch-up"}': 1,
      'jobq_tick_lateness_seconds_bucket{le="0.1"}': 1,
      jobq_tick_lateness_seconds_sum: 21_600.02,
      jobq_tick_lateness_seconds_count: 2,
    });
  });

  it('counts what happened before it was asked for the first time, however much', async () => {
    const { read } = measured();
    for (let n = 0; n < 5_000; n += 1) settle(world.events, claimed('1'));
    const first = await read();
    expect(first.get('jobq_attempts_total{kind="work",outcome="exited",result="done"}')).toBe(
      5_000,
    );
    settle(world.events, claimed('1'));
    const second = await read();
    expect(second.get('jobq_attempts_total{kind="work",outcome="exited",result="done"}')).toBe(
      5_001,
    );
  });

  it('has no more than a hundred kinds, whatever whoever inserts makes up', async () => {
    const { read, post } = measured();
    await post(
      '/jobs',
      Array.from({ length: 300 }, (_none, n) => ({ kind: `kind ${n}` })),
    );
    await post('/jobs', { kind: `"}\\\n{evil="1` });
    for (let n = 0; n < 300; n += 1) settle(world.events, claimed('1', { kind: `done ${n}` }));
    settle(world.events, claimed('1', { kind: '🦀'.repeat(1_000) }));
    const values = await read();
    const kinds = new Set(
      [...values.keys()].map((name) => /kind="((?:[^"\\]|\\.)*)"/.exec(name)?.[1]),
    );
    kinds.delete(undefined);
    expect(kinds.size).toBeLessThanOrEqual(101);
    for (const kind of kinds) expect(Array.from(kind!).length).toBeLessThanOrEqual(210);
    let depth = 0;
    for (const [name, value] of values) if (name.startsWith('jobq_queue_depth')) depth += value;
    expect(depth).toBe(301);
    expect(values.get('jobq_queue_depth{status="pending",kind="(other)"}')).toBeGreaterThan(100);
  });

  it('still tells what was done while the database is away', async () => {
    const { read } = measured({ stats: () => Promise.reject(new Error('away')) });
    settle(world.events, claimed('1'));
    const values = await read();
    expect(values.get('jobq_database_up')).toBe(0);
    expect(values.has('jobq_oldest_waiting_seconds')).toBe(false);
    expect(values.get('jobq_attempts_total{kind="work",outcome="exited",result="done"}')).toBe(1);
  });

  it('is refused where no emulator runs', async () => {
    const response = await world.app.request('http://127.0.0.1/metrics', {
      headers: { host: '127.0.0.1' },
    });
    expect(response.status).toBe(409);
  });
});

describe('what is shipped for Prometheus and Grafana', () => {
  const read = (name: string) =>
    readFileSync(new URL(`../../docs/${name}`, import.meta.url), 'utf8');
  const expressions = (value: unknown): string[] => {
    if (typeof value !== 'object' || value === null) return [];
    return Object.entries(value).flatMap(([key, inner]) =>
      key === 'expr' ? [String(inner)] : expressions(inner),
    );
  };
  const shipped = {
    'grafana-dashboard.json': expressions(JSON.parse(read('grafana-dashboard.json'))),
    'prometheus-alerts.yml': expressions(parse(read('prometheus-alerts.yml'))),
  };

  /** Every series that is exported, with the labels that it has. */
  async function exported(): Promise<Map<string, Set<string>>> {
    const { read: metrics, post } = measured();
    const at = new Date();
    await post('/jobs', { kind: 'work' });
    await post('/drain');
    await post('/jobs', { kind: 'work' });
    world.events.emit('reaped', { at, job: claimed('1'), why: 'lease' });
    const series = new Map<string, Set<string>>();
    for (const name of (await metrics()).keys()) {
      const [, metric, labels = ''] = /^([a-z_]+)(?:\{(.*)\})?$/.exec(name)!;
      const known = series.get(metric!) ?? new Set();
      for (const [, label] of labels.matchAll(/([a-z_]+)="/g)) known.add(label!);
      series.set(metric!, known);
    }
    return series;
  }

  it.each(Object.entries(shipped))(
    '%s uses only series and labels that are there',
    async (_name, found) => {
      expect(found.length).toBeGreaterThan(3);
      const series = await exported();
      for (const expression of found) {
        const used = [...expression.matchAll(/jobq_[a-z_]+/g)].map(([name]) => name);
        expect(used.length, expression).toBeGreaterThan(0);
        const labels = new Set<string>();
        for (const name of used) {
          expect([...series.keys()], expression).toContain(name);
          for (const label of series.get(name)!) labels.add(label);
        }
        const asked = [
          ...[...expression.matchAll(/by \(([^)]*)\)/g)].flatMap(([, names]) =>
            names!.split(/, */),
          ),
          ...[...expression.matchAll(/([a-z_]+)=~?"/g)].map(([, label]) => label!),
        ];
        for (const label of asked) expect([...labels], expression).toContain(label);
      }
    },
  );

  it('have an alert on the age of the oldest waiting job, at the emulator’s own limit', () => {
    const rules = shipped['prometheus-alerts.yml'];
    expect(rules).toContain('max(jobq_oldest_waiting_seconds) > 300');
  });

  it('explain every metric in docs/api.md', async () => {
    const text = read('api.md');
    for (const name of (await exported()).keys()) {
      expect(text).toContain(`\`${name.replace(/_(bucket|sum|count)$/, '')}\``);
    }
  });
});
