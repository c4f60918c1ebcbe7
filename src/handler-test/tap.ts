/** The report as TAP 14 (Test Anything Protocol). */
import { visible } from '../job/text.js';
import type { TestReport } from './report.js';

export function tapText({ results }: TestReport): string {
  const lines = ['TAP version 14', `1..${results.length}`];
  for (const [index, result] of results.entries()) {
    const { kind, check, case: name, verdict, reason } = result;
    const ok = verdict === 'failed' ? 'not ok' : 'ok';
    const skip = verdict === 'skipped' ? ` # SKIP ${line(reason ?? '')}` : '';
    lines.push(`${ok} ${index + 1} - ${line(`${kind} ${check} ${name}`)}${skip}`);
    if (verdict !== 'failed') continue;
    lines.push('  ---', '  findings:');
    for (const { fault, message } of result.findings) {
      lines.push(`    - fault: ${fault}`, `      message: ${JSON.stringify(visible(message))}`);
    }
    lines.push(`  again: ${JSON.stringify(result.again)}`, '  ...');
  }
  return `${lines.join('\n')}\n`;
}

/** A description: `#` begins a directive, a backslash escapes. */
function line(text: string): string {
  return visible(text).replace(/[\\#]/g, '\\$&');
}
