import { describe, expect, it } from 'vitest';
import type { Arrival } from '#src/queue/arrivals.js';
import { recordLines } from '#src/record/record.js';
import { createRedactor } from '#src/record/redact.js';

const START = Date.UTC(2026, 0, 1);

function job(id: number, atMs: number, rest: Partial<Arrival> = {}): Arrival {
  return {
    id: String(id),
    kind: 'k',
    payload: '{"n": 1970670598291982290}',
    status: 'done',
    attempts: 1,
    max_attempts: 3,
    run_after: new Date(START + atMs),
    created_at: new Date(START + atMs),
    ...rest,
  };
}

async function* pages(...jobs: Arrival[][]) {
  yield* jobs;
}

async function lines(jobs: Arrival[][], options: { sample?: number; withExpect?: boolean } = {}) {
  const found = [];
  for await (const { text } of recordLines(pages(...jobs), {
    redactor: createRedactor([], 's'),
    sample: options.sample ?? 1,
    salt: 's',
    withExpect: options.withExpect ?? false,
  })) {
    found.push(text);
  }
  return found;
}

describe('a line', () => {
  it('holds the offset from the first job, and the payload digit for digit', async () => {
    expect(await lines([[job(1, 500), job(2, 500)], [job(3, 2_250)]])).toEqual([
      '{"at":"0s","kind":"k","payload":{"n": 1970670598291982290}}',
      '{"at":"0s","kind":"k","payload":{"n": 1970670598291982290}}',
      '{"at":"1.75s","kind":"k","payload":{"n": 1970670598291982290}}',
    ]);
  });

  it('never goes back in time, as a fixture may not: a long transaction began before', async () => {
    const found = await lines([[job(1, 0), job(2, 5_000), job(3, 1_000), job(4, 6_000)]]);
    expect(found.map((text) => JSON.parse(text).at)).toEqual(['0s', '5s', '5s', '6s']);
  });

  it('says when the job was to run, unless a retry has put its own time there', async () => {
    const later = { run_after: new Date(START + 60_000) };
    const found = await lines([
      [
        job(1, 0, { ...later, status: 'pending', attempts: 0 }),
        job(2, 0, later),
        job(3, 0, { ...later, status: 'pending', attempts: 1 }),
        job(4, 0, { ...later, attempts: 2 }),
        job(5, 0, { run_after: new Date(8.64e15), status: 'pending', attempts: 0 }),
      ],
    ]);
    expect(found.map((text) => JSON.parse(text).run_after)).toEqual([
      '60s',
      '60s',
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('says max_attempts where it is not the default, and what became of the job on demand', async () => {
    const jobs = [
      [
        job(1, 0, { max_attempts: 5, status: 'dead', attempts: 5 }),
        job(2, 0, { status: 'running' }),
      ],
    ];
    const [first, second] = (await lines(jobs, { withExpect: true })).map((text) =>
      JSON.parse(text),
    );
    expect(first).toMatchObject({ max_attempts: 5, expect: { status: 'dead', attempts: 5 } });
    expect(second).not.toHaveProperty('max_attempts');
    expect(second).not.toHaveProperty('expect');
  });
});

it('keeps about the share that is asked for, and the same jobs each time', async () => {
  const many = [Array.from({ length: 10_000 }, (_, index) => job(index + 1, index))];
  const kept = await lines(many, { sample: 0.1 });
  expect(kept.length).toBeGreaterThan(800);
  expect(kept.length).toBeLessThan(1_200);
  expect(await lines(many, { sample: 0.1 })).toEqual(kept);
});
