/** The report of `jobq-dev test`, for people. */
import { cut } from '../columns.js';
import { CHECKS } from '../handler-test/checks/check.js';
import type { CheckResult, Tally, TestReport } from '../handler-test/report.js';
import { formatDuration } from '../job/duration.js';
import { plural, visible, visibleLines } from '../job/text.js';
import type { Output } from './output.js';
import { table } from './table.js';

/** A terminal on which long names of kinds have room beside every check. */
const WIDE = 120;
/** Failures that are shown one by one. */
const SHOWN = 30;

export function printTestReport(report: TestReport, output: Output): void {
  output.line();
  printTable(report, output);
  const failures = report.results.filter(({ verdict }) => verdict === 'failed');
  for (const failure of failures.slice(0, SHOWN)) printFailure(failure, output);
  if (failures.length > SHOWN) {
    output.line();
    output.line(`… and ${failures.length - SHOWN} more (--json has all)`);
  }
  if (output.verbose) printNotes(report, output);
  output.line();
  printVerdict(report, output);
}

function printTable({ kinds, results }: TestReport, output: Output): void {
  const shown = CHECKS.filter((check) => results.some((result) => result.check === check));
  const rows = Object.entries(kinds).map(([kind, { cases, checks }]) => [
    cut(visible(kind), output.columns < WIDE ? 20 : 40),
    String(cases),
    ...shown.map((check) => cell(checks[check])),
  ]);
  const lines = table(['kind', 'cases', ...shown], rows, {
    columns: output.columns,
    right: [1],
  });
  for (const [index, line] of lines.entries()) {
    if (index === 0) output.line(output.paint('dim', line));
    else output.line(/\d\/\d/.test(line) ? output.paint('red', line) : line);
  }
}

/** `ok`, `2/3 bad`, or `-` where there was nothing to check. */
function cell(tally: Tally | undefined): string {
  if (tally === undefined) return '';
  const { passed, failed, skipped } = tally;
  if (failed > 0) return `${failed}/${passed + failed + skipped} bad`;
  return passed > 0 ? 'ok' : '-';
}

function printFailure(result: CheckResult, output: Output): void {
  output.line();
  const what = `${visible(result.kind)} ${result.check}`;
  output.line(`${output.paint('red', `✗ ${what}`)}  ${output.paint('dim', visible(result.case))}`);
  for (const { message, diff } of result.findings) {
    output.line(`  ${visible(message)}`);
    if (diff === undefined) continue;
    for (const line of visibleLines(diff).split('\n'))
      output.line(`    ${paintDiff(line, output)}`);
  }
  output.line(`  ${output.paint('dim', `again: ${result.again}`)}`);
}

function paintDiff(line: string, output: Output): string {
  if (line.startsWith('+')) return output.paint('green', line);
  if (line.startsWith('-')) return output.paint('red', line);
  return output.paint('dim', line);
}

function printNotes({ results }: TestReport, output: Output): void {
  for (const { kind, check, case: name, notes, reason } of results) {
    if (notes.length === 0 && reason === undefined) continue;
    output.line();
    output.line(output.paint('dim', `${visible(kind)} ${check}  ${visible(name)}`));
    if (reason !== undefined) output.line(`  not checked: ${reason}`);
    for (const note of notes) output.line(`  ${visible(note)}`);
  }
}

function printVerdict(report: TestReport, output: Output): void {
  const { passed, failed, attempts, cases, checked } = report;
  if (report.without_case.length > 0) {
    const kinds = report.without_case.map(visible).join(', ');
    output.line(output.paint('yellow', `No case for: ${kinds}`));
  }
  for (const note of report.notes) output.line(output.paint('dim', note));
  if (checked < cases) {
    output.line(
      output.paint(
        'dim',
        `${checked} of ${cases} cases got every check; --sample all takes them all`,
      ),
    );
  }
  const took = `${plural(attempts, 'attempt')} in ${formatDuration(report.wall_ms)}`;
  const did = `${plural(passed, 'check')} passed, ${failed} failed; ${plural(cases, 'case')}, ${took}; seed ${report.seed}`;
  if (report.interrupted) output.line(output.paint('yellow', `Interrupted: ${did}`));
  else if (failed > 0) output.line(output.paint('red', `Failed: ${did}`));
  else output.line(output.paint('green', `Passed: ${did}`));
}
