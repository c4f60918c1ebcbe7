import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { crashLine } from '#src/handler-test/checks/crash.js';

/** What an interpreter itself writes to stderr. */
function stderrOf(program: string, ...args: string[]): string {
  return spawnSync(program, args, { encoding: 'utf8' }).stderr;
}
const node = (source: string) => crashLine(stderrOf(process.execPath, '-e', source));
const python = (source: string) => crashLine(stderrOf('/usr/bin/python3', '-c', source));

describe('a crash', () => {
  it('is what an interpreter says of a bug', () => {
    expect(node('null.name')).toMatch(/^TypeError: Cannot read properties of null/);
    expect(node('setTimeout(() => missing, 1)')).toBe('ReferenceError: missing is not defined');
    expect(node('try { null.name } catch (e) { console.error(e); process.exitCode = 1 }')).toMatch(
      /^TypeError/,
    );
    expect(python('None["a"]')).toBe("TypeError: 'NoneType' object is not subscriptable");
    expect(python('{}["amount"]')).toBe("KeyError: 'amount'");
  });

  it('is not what a handler says of its input', () => {
    expect(node('throw new Error("amount must be positive")')).toBeUndefined();
    expect(node('console.error("TypeError: of a price"); process.exitCode = 1')).toBeUndefined();
    expect(python('raise ValueError("amount must be positive")')).toBeUndefined();
    expect(python('import sys; sys.exit("KeyError: no")')).toBeUndefined();
    expect(crashLine('')).toBeUndefined();
    // A trace first, then a plain line for people: that line is the message.
    expect(
      crashLine(`${stderrOf('/usr/bin/python3', '-c', 'None["a"]')}the payload has no user\n`),
    ).toBeUndefined();
  });
});
