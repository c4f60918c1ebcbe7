import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JobqError } from '#src/errors.js';
import { checkFixture, type FixtureJob, readFixture } from '#src/replay/fixture.js';
import { tempDir } from '../support/temp-dir.js';

function fixture(content: string | Buffer): string {
  const file = path.join(tempDir(), 'burst.jsonl');
  writeFileSync(file, content);
  return file;
}

async function read(content: string | Buffer): Promise<FixtureJob[]> {
  const jobs: FixtureJob[] = [];
  for await (const job of readFixture(fixture(content))) jobs.push(job);
  return jobs;
}

async function refusal(file: string): Promise<JobqError> {
  const error: unknown = await checkFixture(file).then(
    () => new Error('it was not refused'),
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(JobqError);
  expect(error).toMatchObject({ code: 'input', exitStatus: 2, hint: expect.stringMatching(/\S/) });
  return error as JobqError;
}

const job = (more: object = {}) => JSON.stringify({ at: '0s', kind: 'work', payload: {}, ...more });

describe('a fixture', () => {
  it('is one job a line, with defaults for what is left out', async () => {
    const jobs = await read(
      [
        '{"at":"0s","kind":"resize","payload":{"file":"a.png"}}',
        '{"at":"1.5s","kind":"a/b","payload":[1],"max_attempts":5,"count":3,"run_after":"2m","expect":{"status":"dead","attempts":5,"stdout":"x","error":"y"}}',
      ].join('\n'),
    );
    expect(jobs).toEqual([
      {
        line: 1,
        atMs: 0,
        kind: 'resize',
        payload: '{"file":"a.png"}',
        count: 1,
        runAfterMs: undefined,
        maxAttempts: undefined,
        expect: undefined,
      },
      {
        line: 2,
        atMs: 1_500,
        kind: 'a/b',
        payload: '[1]',
        count: 3,
        runAfterMs: 120_000,
        maxAttempts: 5,
        expect: { status: 'dead', attempts: 5, stdout: 'x', error: 'y' },
      },
    ]);
  });

  it.each([
    '{"id":1970670598291982290}',
    '12345678901234567890.1234567890E-2',
    'null',
    '"text"',
    '[ 1,\t2 ]',
    '{"a":{"at":"x","kind":1,"count":0}}',
    '{"__proto__":1}',
    '"\\ud83e\\udd80 \\\\u0000"',
  ])('keeps the payload %s to the character', async (payload) => {
    const [only] = await read(`{"at":"0s","payload": ${payload} ,"kind":"work"}`);
    expect(only!.payload).toBe(payload);
  });

  it('keeps any JSON payload and any kind', async () => {
    const kind = fc
      .string({ unit: 'grapheme', minLength: 1 })
      .filter((text) => !text.includes('\0'));
    const payload = fc.jsonValue().filter((value) => !JSON.stringify(value).includes('\\u'));
    await fc.assert(
      fc.asyncProperty(fc.array(fc.record({ kind, payload }), { minLength: 1 }), async (all) => {
        const lines = all.map((one) => job(one)).join('\n');
        const found = (await read(lines)).map((one) => ({
          kind: one.kind,
          payload: JSON.parse(one.payload),
        }));
        expect(found).toEqual(JSON.parse(JSON.stringify(all)));
      }),
      { numRuns: 50 },
    );
  });

  it.each([
    ['blank lines', `\n\n${job()}\n   \n${job()}\n\n`, [3, 5]],
    ['CRLF', `${job()}\r\n\r\n${job()}\r\n`, [1, 3]],
    ['no newline at its end', `${job()}\n${job()}`, [1, 2]],
    ['a byte order mark', `\ufeff${job()}\n${job()}\n`, [1, 2]],
    ['white space around its lines', `  ${job()}\t\n`, [1]],
    ['jobs at the same time', `${job({ at: '1s' })}\n${job({ at: '1s' })}`, [1, 2]],
  ])('may have %s', async (_what, content, lines) => {
    expect((await read(content)).map(({ line }) => line)).toEqual(lines);
  });

  it.each(['\u2028', '\u2029', '\u0085', '\x0b'])(
    'is split at newlines only: %j may stand in a string, as JSON.stringify leaves it',
    async (separator) => {
      const text = JSON.stringify(`a${separator}b`);
      const jobs = await read(`{"at":"0s","kind":"work","payload":${text}}\n${job()}`);
      expect(jobs.map(({ payload }) => payload)).toEqual([text, '{}']);
    },
  );

  it('may have a line of 20 MB, and characters that lie across the reads of the file', async () => {
    const payload = JSON.stringify('🦀'.repeat(5_000_000));
    const [first, second] = await read(`{"at":"0s","kind":"work","payload":${payload}}\n${job()}`);
    expect(first!.payload === payload).toBe(true);
    expect(second).toMatchObject({ line: 2, payload: '{}' });
  });

  it('can be left half-read', async () => {
    const lines = readFixture(fixture(`${job()}\n`.repeat(10_000)));
    expect((await lines.next()).value).toMatchObject({ line: 1 });
    await lines.return(undefined);
    expect(await lines.next()).toEqual({ done: true, value: undefined });
  });
});

describe('checkFixture', () => {
  it('counts the jobs, copies included, and how long they take to arrive', async () => {
    const content = [job(), job({ at: '2s', count: 40 }), job({ at: '1m30s' })].join('\n');
    expect(await checkFixture(fixture(content))).toEqual({ jobs: 42, lastsMs: 90_000 });
  });

  it.each<[string, string, string]>([
    ['bad JSON', '{"at":"0s",}', '1:12: unexpected "}"'],
    ['bad JSON on a later line', `${job()}\n\n${job()}\n{"at" "0s"}`, '4:7: unexpected "\\""'],
    ['bad JSON after emoji', '{"kind":"🦀🦀",x}', '1:14: unexpected "x"'],
    ['a line that ends too early', '{"at":"0s","kind":"work"', '1:25: the JSON ends too early'],
    ['two objects on a line', `${job()}${job()}`, '1:39: unexpected "{"'],
    ['an array', '[1]', '1:1: a line is an object, as {"at":"0s","kind":"…","payload":{}}'],
    ['a number', '  7', '1:3: a line is an object, as {"at":"0s","kind":"…","payload":{}}'],
    ['null', 'null', '1:1: a line is an object, as {"at":"0s","kind":"…","payload":{}}'],
    [
      'an unknown key',
      '{"at":"0s","kimd":"x","payload":1}',
      '1:12: unknown key "kimd", did you mean "kind"?',
    ],
    [
      'an unknown key beside the known ones',
      job({ max_attempt: 3 }),
      '1:39: unknown key "max_attempt", did you mean "max_attempts"?',
    ],
    ['a key far from any', job({ zebra: 1 }), '1:39: unknown key "zebra"'],
    [
      'an unknown key in expect',
      job({ expect: { state: 'done' } }),
      '1:49: unknown key "expect.state", did you mean "status"?',
    ],
    ['no at', '{"kind":"x","payload":{"at":"0s"}}', '1:1: at is missing'],
    ['no kind', '{"at":"0s","payload":{"kind":"x"}}', '1:1: kind is missing'],
    ['no payload', '{"at":"0s","kind":"x"}', '1:1: payload is missing'],
    [
      'a bad at',
      job({ at: 'soon' }),
      '1:2: at: "soon" is no duration such as "0s", "1.5s" or "2m"',
    ],
    ['an at that is a number', job({ at: 5 }), '1:2: at: expected string, received number'],
    [
      'an at before the start',
      job({ at: '-5s' }),
      '1:2: at: "-5s" is no duration such as "0s", "1.5s" or "2m"',
    ],
    [
      'an at that no date can hold',
      job({ at: '99999999d' }),
      '1:2: at: "99999999d" is no duration such as "0s", "1.5s" or "2m"',
    ],
    [
      'going back in time',
      `${job({ at: '2s' })}\n${job({ at: '1.5s' })}`,
      '2:2: at is 1.5 s, before the line above it (2 s)',
    ],
    ['an empty kind', job({ kind: '' }), '1:12: kind: may not be empty'],
    ['a kind that is a number', job({ kind: 7 }), '1:12: kind: expected string, received number'],
    ['count 0', job({ count: 0 }), '1:39: count: must be 1 or more'],
    [
      'a wrong count after one inside the payload',
      '{"at":"0s","kind":"x","payload":{"count":1},"count":0}',
      '1:45: count: must be 1 or more',
    ],
    ['half a count', job({ count: 1.5 }), '1:39: count: expected int, received number'],
    ['max_attempts 0', job({ max_attempts: 0 }), '1:39: max_attempts: must be 1 or more'],
    [
      'a bad run_after',
      job({ run_after: 'x' }),
      '1:39: run_after: "x" is no duration such as "0s", "1.5s" or "2m"',
    ],
    [
      'an unknown status',
      job({ expect: { status: 'ok' } }),
      '1:49: expect.status: expected one of "pending"|"running"|"done"|"dead"',
    ],
    [
      'an expect that is no object',
      job({ expect: 'done' }),
      '1:39: expect: expected object, received string',
    ],
    [
      'negative attempts',
      job({ expect: { attempts: -1 } }),
      '1:49: expect.attempts: Too small: expected number to be >=0',
    ],
    [
      'a NUL in the payload, which jsonb refuses',
      '{"at":"0s","kind":"x","payload":{"a":"\\u0000"}}',
      '1:39: \\u0000 cannot be stored in jsonb',
    ],
    [
      'half a character in the payload',
      '{"at":"0s","kind":"x","payload":"\\ud83e"}',
      '1:34: \\ud83e is half a character',
    ],
    [
      'a control sequence in a key, shown escaped',
      '{"at":"0s","kind":"x","payload":1,"\\u001b[2J":1}',
      '1:35: unknown key "\\u001b[2J"',
    ],
  ])('refuses %s, with file, line, column and reason', async (_what, content, rest) => {
    const file = fixture(content);
    const { message } = await refusal(file);
    if (rest.startsWith('1:35: unknown key')) expect(message).toContain(rest.slice(5));
    else expect(message).toBe(`${file}:${rest}`);
  });

  it('refuses an unknown key of any length, in one readable line', async () => {
    const file = fixture(job({ [`\n${'x'.repeat(1_000_000)}`]: 1 }));
    const { message } = await refusal(file);
    expect(message).not.toContain('\n');
    expect(message.length).toBeLessThan(1_000);
  });

  it('refuses text that is not UTF-8, and says where', async () => {
    const latin1 = Buffer.from(`${job()}\n{"at":"0s","kind":"Grüße","payload":1}`, 'latin1');
    const file = fixture(latin1);
    expect((await refusal(file)).message).toBe(`${file}:2:22: no UTF-8 text`);
    const utf16 = fixture(Buffer.from(`\ufeff${job()}`, 'utf16le'));
    expect((await refusal(utf16)).message).toBe(`${utf16}:1:1: no UTF-8 text`);
  });

  it('refuses the first bad line of many, and reads no further', async () => {
    const file = fixture(`${`${job()}\n`.repeat(5_000)}nope\n${'also nope\n'.repeat(5_000)}`);
    expect((await refusal(file)).message).toMatch(/burst\.jsonl:5001:1: a line is an object/);
  });

  it.each([
    ['nothing', ''],
    ['blank lines', '\n \r\n\n'],
    ['a byte order mark', '\ufeff'],
  ])('refuses a file that holds only %s', async (_what, content) => {
    const file = fixture(content);
    expect((await refusal(file)).message).toBe(`the fixture ${file} holds no job`);
  });

  it('refuses a file that is not there, and a directory', async () => {
    const dir = tempDir();
    const missing = path.join(dir, 'missing.jsonl');
    expect((await refusal(missing)).message).toBe(
      `cannot read the fixture ${missing}: no such file or directory (ENOENT)`,
    );
    const folder = path.join(dir, 'folder');
    mkdirSync(folder);
    expect((await refusal(folder)).message).toBe(
      `cannot read the fixture ${folder}: illegal operation on a directory (EISDIR)`,
    );
  });
});
