/** The report as JUnit XML, in the form that CI systems read: a suite a kind, a case a check. */
import type { CheckResult, TestReport } from './report.js';

export function junitXml({ results, kinds, wall_ms }: TestReport): string {
  const suites = Object.keys(kinds).map((kind) => {
    const own = results.filter((result) => result.kind === kind);
    return [
      `  <testsuite name="${text(kind)}" ${counts(own)}>`,
      ...own.map(testcase),
      '  </testsuite>',
    ].join('\n');
  });
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="jobq-dev test" ${counts(results)} time="${wall_ms / 1000}">`,
    ...suites,
    '</testsuites>',
    '',
  ].join('\n');
}

function counts(results: readonly CheckResult[]): string {
  const count = (verdict: string) => results.filter((each) => each.verdict === verdict).length;
  return `tests="${results.length}" failures="${count('failed')}" skipped="${count('skipped')}"`;
}

function testcase(result: CheckResult): string {
  const { kind, check, case: name, verdict, duration_ms, reason, findings, again } = result;
  const head = `    <testcase classname="${text(kind)}" name="${text(`${check} ${name}`)}" time="${duration_ms / 1000}"`;
  if (verdict === 'passed') return `${head}/>`;
  if (verdict === 'skipped') {
    return `${head}><skipped message="${text(reason ?? '')}"/></testcase>`;
  }
  const body = [
    ...findings.flatMap(({ message, diff }) => [message, diff ?? '']),
    `again: ${again}`,
  ]
    .filter((line) => line !== '')
    .join('\n');
  const { fault, message } = findings[0]!;
  return `${head}><failure type="${text(fault)}" message="${text(message)}">${text(body)}</failure></testcase>`;
}

const ESCAPES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
};

/** Text for XML 1.0, which has no place for most control characters, escaped or not. */
function text(value: string): string {
  return value
    .toWellFormed()
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '\ufffd')
    .replace(/[&<>"]/g, (char) => ESCAPES[char]!);
}
