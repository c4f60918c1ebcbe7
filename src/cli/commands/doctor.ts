import type { Command } from 'commander';
import { checkUp, type Finding } from '../../doctor.js';
import { readInvocation } from '../options.js';

const MARKS = { ok: ['green', 'ok  '], note: ['yellow', 'note'], bad: ['red', 'bad '] } as const;

/** `jobq-dev doctor`: what works on this machine, and what to do about what does not. */
export async function doctor(command: Command): Promise<number> {
  const { config, output } = readInvocation(command);
  const findings: Finding[] = await checkUp(config);
  output.document({ findings });
  for (const { state, what, found, todo } of findings) {
    const [style, mark] = MARKS[state];
    output.line(`${output.paint(style, mark)} ${what}: ${found}`);
    if (todo !== undefined) output.line(`       ${todo}`);
  }
  return findings.some(({ state }) => state === 'bad') ? 3 : 0;
}
