import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { TestCase } from '#src/handler-test/cases.js';
import { junitXml } from '#src/handler-test/junit.js';
import { type CheckResult, summarize } from '#src/handler-test/report.js';
import { tapText } from '#src/handler-test/tap.js';
import { touchedKinds } from '#src/handler-test/touched.js';

const result = (more: Partial<CheckResult>): CheckResult => ({
  kind: 'a/b',
  case: 'f.jsonl:1',
  check: 'runs',
  verdict: 'passed',
  findings: [],
  notes: [],
  duration_ms: 1_500,
  ...more,
});

const REPORT = summarize({
  results: [
    result({}),
    result({
      check: 'twice',
      verdict: 'failed',
      findings: [
        { fault: 'file-changed', message: 'a <b> & "c" \u0000\u001b[31m', diff: '-x\n+y' },
        { fault: 'file-added', message: 'one more' },
      ],
      again: "jobq-dev test 'f.jsonl:1' --only twice",
    }),
    result({ kind: 'c', check: 'timeout', verdict: 'skipped', reason: 'no # request' }),
  ],
  interrupted: false,
  seed: 's',
  cases: 2,
  checked: 1,
  attempts: 5,
  attemptMs: 10.4,
  wallMs: 2_000.6,
  withoutCase: [],
  notes: [],
});

describe('the report', () => {
  it('adds up by kind and check', () => {
    expect(REPORT).toMatchObject({ passed: 1, failed: 1, skipped: 1, wall_ms: 2001 });
    expect(REPORT.kinds['a/b']).toEqual({
      cases: 1,
      checks: {
        runs: { passed: 1, failed: 0, skipped: 0 },
        twice: { passed: 0, failed: 1, skipped: 0 },
      },
    });
  });

  it('is XML that parses, whatever a message holds', () => {
    const xml = junitXml(REPORT);
    const parse =
      'import sys, xml.etree.ElementTree as e; r = e.fromstring(sys.stdin.buffer.read()); ' +
      'f = r.find(".//failure"); print([r.get("tests"), r.get("failures"), r.get("skipped"), f.get("message"), f.text])';
    const { stdout, stderr } = spawnSync('/usr/bin/python3', ['-c', parse], {
      input: xml,
      encoding: 'utf8',
    });
    expect(stderr).toBe('');
    expect(stdout).toContain("['3', '1', '1', 'a <b> & \"c\" \ufffd\ufffd[31m'");
    expect(stdout).toContain('-x\\n+y\\none more\\nagain: jobq-dev test');
  });

  it('is TAP, with a directive where a check was skipped', () => {
    expect(tapText(REPORT).split('\n')).toEqual([
      'TAP version 14',
      '1..3',
      'ok 1 - a/b runs f.jsonl:1',
      'not ok 2 - a/b twice f.jsonl:1',
      '  ---',
      '  findings:',
      '    - fault: file-changed',
      '      message: "a <b> & \\"c\\" \\\\x00\\\\x1b[31m"',
      '    - fault: file-added',
      '      message: "one more"',
      '  again: "jobq-dev test \'f.jsonl:1\' --only twice"',
      '  ...',
      'ok 3 - c timeout f.jsonl:1 # SKIP no \\# request',
      '',
    ]);
  });
});

describe('a saved file', () => {
  const cwd = '/p';
  const cases = [
    { kind: 'a', name: 'fixtures/x.jsonl:1' },
    { kind: 'b/c', name: 'fixtures/x.jsonl:2' },
    { kind: 'd', name: 'handlers/d.cases.jsonl:1' },
  ] as TestCase[];
  const touched = (...files: string[]) =>
    touchedKinds(
      files.map((file) => path.join(cwd, file)),
      cases,
      { handlersDir: '/p/handlers', cwd, kinds: ['a', 'b/c', 'd', 'new'] },
    ).sort();

  it('touches its kind, the kinds of a fixture, or all', () => {
    expect(touched('handlers/a.py')).toEqual(['a']);
    expect(touched('handlers/b/c.http.json', 'handlers/new.mjs')).toEqual(['b/c', 'new']);
    expect(touched('handlers/d.cases.jsonl')).toEqual(['d']);
    expect(touched('fixtures/x.jsonl')).toEqual(['a', 'b/c']);
    expect(touched('handlers/shared.py')).toEqual(['a', 'b/c', 'd']);
    expect(touched('fixtures/new.jsonl')).toEqual(['a', 'b/c', 'd']);
  });
});
