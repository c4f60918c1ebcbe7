/** The report of a replay, for people. */
import { cut } from '../columns.js';
import { compactDuration, formatDuration } from '../job/duration.js';
import { headline, plural, shownKind, visible } from '../job/text.js';
import type { Failure, KindReport, ReplayReport } from '../replay/report.js';
import type { Output } from './output.js';
import { table } from './table.js';

/** Failures that are shown one by one. */
const SHOWN = 20;

export function printReport(report: ReplayReport, output: Output): void {
  const { paint } = output;
  const bold = (text: string) => paint.call(output, 'bold', text);
  output.line();
  output.line(bold(`Replay of ${visible(report.fixture)}`));
  output.line(
    `${plural(report.jobs, 'job')}, ${plural(report.attempts, 'attempt')}; ${formatDuration(report.virtual_ms)} of virtual time in ${formatDuration(report.wall_ms)}`,
  );
  output.line();
  printKinds(report, output);
  if (report.errors.length > 0) {
    output.line();
    output.line(bold('Errors'));
    for (const { kind, error, times, fatal } of report.errors) {
      const mark = fatal ? output.paint('red', 'dead ') : output.paint('yellow', 'retry');
      const count = `${times}×`.padStart(5);
      const room = Math.max(20, output.columns - 14);
      output.line(`${count} ${mark} ${cut(`${shownKind(kind)}: ${visible(error)}`, room)}`);
    }
  }
  output.line();
  printVerdict(report, output);
}

function printKinds(report: ReplayReport, output: Output): void {
  const row = (name: string, kind: Omit<KindReport, 'attempts'>) => [
    cut(visible(name), 24),
    String(kind.jobs),
    String(kind.done),
    String(kind.dead),
    String(kind.retries),
    compactDuration(kind.pickup_ms.p50),
    compactDuration(kind.pickup_ms.p95),
    compactDuration(kind.pickup_ms.max),
    compactDuration(kind.sandbox_ms),
  ];
  const lines = table(
    ['kind', 'jobs', 'done', 'dead', 'retries', 'p50', 'p95', 'max', 'sandbox'],
    [...Object.entries(report.kinds).map(([name, kind]) => row(name, kind)), row('all', report)],
    { columns: output.columns, right: [1, 2, 3, 4, 5, 6, 7, 8] },
  );
  lines.forEach((line, index) => {
    const edge = index === 0 ? 'dim' : index === lines.length - 1 ? 'bold' : undefined;
    output.line(edge === undefined ? line : output.paint(edge, line));
  });
  output.line(
    output.paint('dim', 'p50, p95, max: virtual time from due to claimed; sandbox: real time'),
  );
}

function printVerdict(report: ReplayReport, output: Output): void {
  const { expectations, failures, pending, running } = report;
  if (report.interrupted) {
    output.line(
      output.paint(
        'yellow',
        `Interrupted: ${pending} pending, ${running} running, the rest of the burst not arrived.`,
      ),
    );
    return;
  }
  if (expectations.checked > 0) {
    output.line(`${expectations.met} of ${expectations.checked} expectations met.`);
  }
  if (failures.length === 0) {
    const deaths = report.dead === 0 ? '' : ` ${report.dead} died, as the fixture expects.`;
    output.line(output.paint('green', `Passed: every job ended as it should.${deaths}`));
    return;
  }
  output.line(output.paint('red', `Failed: ${failures.length} jobs did not end as they should.`));
  for (const failure of failures.slice(0, SHOWN)) {
    output.line(cut(`  ${describe(failure)}`, Math.max(40, output.columns)));
  }
  if (failures.length > SHOWN)
    output.line(`  … and ${failures.length - SHOWN} more (--json has all)`);
}

function describe(failure: Failure): string {
  const { id, line, kind, status, attempts, error, expected } = failure;
  const wanted =
    expected === undefined
      ? ''
      : `; expected ${Object.entries(expected)
          .map(([key, value]) => `${key} ${JSON.stringify(value)}`)
          .join(', ')}`;
  const why = error === null ? '' : `: ${visible(headline(error))}`;
  return `line ${line}, job ${id} ${shownKind(kind)}: ${status} after ${plural(attempts, 'attempt')}${wanted}${why}`;
}
