import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { findCases, jobIdOf, namedCases, sample, type TestCase } from '#src/handler-test/cases.js';
import { scratch } from '../support/cli.js';

let cwd: string;
const file = (name: string, ...lines: string[]) => {
  mkdirSync(path.dirname(path.join(cwd, name)), { recursive: true });
  writeFileSync(path.join(cwd, name), lines.join('\n'));
};
const find = (named: { file: string; line: number | undefined }[] = []) =>
  findCases({
    handlersDir: path.join(cwd, 'handlers'),
    fixturesDir: path.join(cwd, 'fixtures'),
    named,
    cwd,
  });

beforeEach(() => {
  cwd = scratch();
});

describe('cases', () => {
  it('come from the files beside handlers, whose lines need no kind, and from fixtures', async () => {
    file('handlers/deployment/status.cases.jsonl', '{"payload":{"id":1970670598291982290}}');
    file('fixtures/deep/burst.jsonl', '{"at":"0s","kind":"hello","payload":1,"max_attempts":5}');
    file('fixtures/README.md', 'not a fixture');
    expect(await find()).toEqual([
      {
        kind: 'deployment/status',
        name: 'handlers/deployment/status.cases.jsonl:1',
        payload: '{"id":1970670598291982290}',
        maxAttempts: 3,
        expect: undefined,
        own: true,
      },
      {
        kind: 'hello',
        name: 'fixtures/deep/burst.jsonl:1',
        payload: '1',
        maxAttempts: 5,
        expect: undefined,
        own: false,
      },
    ]);
  });

  it('are those of the files that were named, and of one line where one was', async () => {
    file('fixtures/burst.jsonl', '{"at":"0s","kind":"a","payload":1}');
    file('other.jsonl', '{"at":"0s","kind":"b","payload":1}', '{"at":"0s","kind":"b","payload":2}');
    expect((await find([namedCases('other.jsonl')!])).map(({ name }) => name)).toEqual([
      'other.jsonl:1',
      'other.jsonl:2',
    ]);
    expect(await find([namedCases('other.jsonl:2')!])).toMatchObject([{ payload: '2' }]);
    await expect(find([namedCases('other.jsonl:3')!])).rejects.toThrow(
      'there is no job in line 3 of other.jsonl',
    );
    expect(namedCases('hello')).toBeUndefined();
  });

  it('stand once, however often a burst repeats them', async () => {
    const job = (at: number, more: object) =>
      JSON.stringify({ at: `${at}s`, kind: 'a', payload: {}, ...more });
    file('fixtures/burst.jsonl', job(0, {}), job(1, {}), job(2, { expect: { status: 'dead' } }));
    expect((await find()).map(({ name }) => name)).toEqual([
      'fixtures/burst.jsonl:1',
      'fixtures/burst.jsonl:3',
    ]);
  });

  it('in the file of another kind are refused, with the line', async () => {
    file('handlers/a.cases.jsonl', '', '{"payload":1,"kind":"b"}');
    await expect(find()).rejects.toThrow(
      'handlers/a.cases.jsonl:2: the kind is "b" in a file of cases for "a"',
    );
  });

  it('have a job id that is theirs in every run, and unlike any other', () => {
    const id = jobIdOf({ kind: 'a', name: 'f:1' } as TestCase);
    expect(id).toMatch(/^7\d{11}$/);
    expect(jobIdOf({ kind: 'a', name: 'f:1' } as TestCase)).toBe(id);
    expect(jobIdOf({ kind: 'a', name: 'f:2' } as TestCase)).not.toBe(id);
  });
});

describe('the sample', () => {
  const many = (count: number, more: Partial<TestCase> = {}): TestCase[] =>
    Array.from({ length: count }, (_, index) => ({
      kind: 'a',
      name: `f:${index + 1}`,
      payload: String(index),
      maxAttempts: 3,
      expect: undefined,
      own: false,
      ...more,
    }));

  it('takes far apart ones of each kind, and one of each expected end', () => {
    const cases = [
      ...many(100),
      ...many(40, { kind: 'b' }),
      ...many(1, { expect: { status: 'dead' }, name: 'f:dead' }),
    ];
    const names = [...sample(cases, 3)].map(({ kind, name }) => `${kind} ${name}`);
    expect(names.sort()).toEqual(['a f:1', 'a f:34', 'a f:dead', 'b f:1', 'b f:14', 'b f:27']);
  });

  it('takes every case that was written for its handler', () => {
    const own = many(10, { own: true });
    expect(sample([...own, ...many(10)], 2).size).toBe(12);
  });

  it('takes all when as many are asked for as there can be', () => {
    expect(sample(many(50), Number.MAX_SAFE_INTEGER).size).toBe(50);
  });
});
