/** Looking at the queue, on both databases: pages, filters, lineage, the oldest waiting job. */
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Database, Param, Queryable } from '#src/db/port.js';
import { enqueue, type NewJob } from '#src/queue/enqueue.js';
import { lineage } from '#src/queue/lineage.js';
import { type JobFilter, listJobs } from '#src/queue/list.js';
import { oldestWaitingMs } from '#src/queue/oldest-waiting.js';
import { freshDatabase, freshMemoryDatabase } from '../support/postgres.js';

const START = Date.parse('2026-05-01T12:00:00Z');
const at = (seconds: number) => new Date(START + seconds * 1_000);

describe.each([
  ['PGlite', freshMemoryDatabase],
  ['Postgres', freshDatabase],
] as const)('looking at the queue on %s', (_name, open) => {
  let db: Database;

  beforeAll(async () => {
    db = await open();
  });
  afterAll(() => db.close());
  beforeEach(() => db.exec('truncate jobs, job_attempts restart identity'));

  const insert = (...jobs: Partial<NewJob>[]) =>
    enqueue(db, { jobs: jobs.map((job) => ({ kind: 'work', payload: '{}', ...job })), now: at(0) });

  const page = (filter: Partial<JobFilter>) => listJobs(db, { limit: 100, ...filter });
  const ids = async (filter: Partial<JobFilter> = {}) =>
    (await page(filter)).jobs.map(({ id }) => id);

  describe('the list', () => {
    it('pages and filters', async () => {
      await insert({ kind: 'a' }, { kind: 'b' }, { kind: 'a' });
      expect(await ids()).toEqual(['3', '2', '1']);
      expect(await ids({ before: '3', limit: 1 })).toEqual(['2']);
      expect(await ids({ kind: 'a' })).toEqual(['3', '1']);
      expect(await ids({ status: 'dead' })).toEqual([]);
    });

    it('finds text in ids, kinds, payloads and errors, in either case and literally', async () => {
      await insert(
        { kind: 'resize/Image' },
        { payload: '{"file":"50%_off.PNG","n":1970670598291982290}' },
        {},
      );
      await db.query("update jobs set last_error = 'Connection REFUSED' where id = 3");
      const found = async (text: string) => (await ids({ text })).join();
      expect(await found('IMAGE')).toBe('1');
      expect(await found('50%_')).toBe('2');
      expect(await found('50%off')).toBe('');
      expect(await found('1970670598291982290')).toBe('2');
      expect(await found('refused')).toBe('3');
      expect(await found('3')).toBe('3');
      expect(await found("' or '1'='1")).toBe('');
      expect(await found('')).toBe('3,2,1');
    });

    it('tells jobs that were tried from those that were not', async () => {
      await insert({}, {});
      await db.query('update jobs set attempts = 1 where id = 1');
      expect(await ids({ attempted: true })).toEqual(['1']);
      expect(await ids({ attempted: false })).toEqual(['2']);
    });

    it('leaves payloads out on request', async () => {
      await insert({ payload: '{"big":1}' });
      expect((await page({ withPayload: false })).jobs[0]).toMatchObject({ payload: 'null' });
      expect((await page({})).jobs[0]).toMatchObject({ payload: '{"big": 1}' });
    });

    it('walks either order to its end, whatever times jobs share, each job once', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.nat(3), { minLength: 1, maxLength: 12 }),
          fc.constantFrom('newest' as const, 'next' as const),
          fc.integer({ min: 1, max: 5 }),
          async (offsets, order, limit) => {
            await db.exec('truncate jobs, job_attempts restart identity');
            await insert(...offsets.map(() => ({})));
            // Times that differ by less than a Date can hold, and one without end.
            for (const [index, offset] of offsets.entries()) {
              await db.query(
                `update jobs set run_after = case when $2::int = 3 then 'infinity'
                   else $3::timestamptz + $2 * interval '1 microsecond' end where id = $1::bigint`,
                [String(index + 1), offset, at(0)],
              );
            }
            const walked: string[] = [];
            let before: string | undefined;
            do {
              const { jobs, next } = await page({ order, limit, before });
              walked.push(...jobs.map(({ id }) => id));
              before = next;
            } while (before !== undefined);
            const all = offsets.map((offset, index) => ({ offset, id: index + 1 }));
            all.sort((a, b) =>
              order === 'next' ? a.offset - b.offset || a.id - b.id : b.id - a.id,
            );
            expect(walked).toEqual(all.map(({ id }) => String(id)));
          },
        ),
        { numRuns: 25 },
      );
    });

    it.each([
      ['newest', 'x'],
      ['newest', '2026-05-01T12:00:00.000000Z_1'],
      ['next', '1'],
      ['next', "2026-05-01T12:00:00.000000Z_1' or true"],
      ['next', 'infinity'],
    ] as const)('refuses a cursor that is none, order %s: %s', async (order, before) => {
      await expect(page({ order, before })).rejects.toMatchObject({
        code: 'input',
        message: expect.stringMatching(/^before: is no /),
      });
    });

    it('reads what is next from its index, however many jobs are done', async () => {
      await db.exec(`insert into jobs (kind, payload, status)
        select 'work', '{}', case when n % 2 = 0 then 'done' else 'pending' end
        from generate_series(1, 10000) as n`);
      await db.exec('analyze jobs');
      let plan = '';
      const explaining = {
        query: async (sql: string, params: readonly Param[]) => {
          const { rows } = await db.query<{ 'QUERY PLAN': string }>(`explain ${sql}`, params);
          plan = rows.map((row) => row['QUERY PLAN']).join('\n');
          return { rows: [], rowCount: 0 };
        },
      } as unknown as Queryable;
      await listJobs(explaining, { status: 'pending', order: 'next', limit: 10 });
      expect(plan).toMatch(/Index Scan using jobs_pending_idx/);
      expect(plan).not.toMatch(/Sort/);
      expect(await ids({ status: 'pending', order: 'next', limit: 2 })).toEqual(['1', '3']);
    });
  });

  describe('the lineage', () => {
    it('is every edited copy of what a job came from, oldest first', async () => {
      await insert({}, {});
      await insert({ parentId: '1' }, { parentId: '2' });
      await insert({ parentId: '3' }, { parentId: '1' });
      for (const id of ['1', '3', '5', '6']) {
        expect((await lineage(db, id)).map((job) => [job.id, job.parent_id])).toEqual([
          ['1', null],
          ['3', '1'],
          ['5', '3'],
          ['6', '1'],
        ]);
      }
      expect((await lineage(db, '4')).map(({ id }) => id)).toEqual(['2', '4']);
    });

    it('ends where parents lead round in a circle', async () => {
      await insert({}, { parentId: '1' });
      await db.query('update jobs set parent_id = 2 where id = 1');
      expect((await lineage(db, '1')).map(({ id }) => id)).toEqual(['1', '2']);
    });

    it('of a job that is not there is not found', async () => {
      await expect(lineage(db, '7')).rejects.toMatchObject({ code: 'not-found' });
    });
  });

  it('the oldest waiting job is the one that has been due for longest', async () => {
    expect(await oldestWaitingMs(db, { now: at(0) })).toBeNull();
    await insert({ runAfter: at(-30) }, { runAfter: at(-90) }, { runAfter: at(60) });
    expect(await oldestWaitingMs(db, { now: at(10) })).toBe(100_000);
    await db.query("update jobs set status = 'running', locked_at = now() where id <= 2");
    expect(await oldestWaitingMs(db, { now: at(10) })).toBeNull();
  });
});
