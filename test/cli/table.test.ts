import fc from 'fast-check';
import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import { table } from '#src/cli/table.js';
import { awkward } from '../support/awkward-text.js';

describe('a table', () => {
  it('puts a heading over columns, two spaces apart', () => {
    const rows = [
      ['1', 'resize', 'done'],
      ['42', 'charge/card', 'dead: no such account'],
    ];
    expect(table(['ID', 'KIND', 'STATUS'], rows, { columns: 80, right: [0] })).toEqual([
      'ID  KIND         STATUS',
      ' 1  resize       done',
      '42  charge/card  dead: no such account',
    ]);
  });

  it.each([
    ['CJK', '支払い'],
    ['emoji', 'deploy 🚀'],
    ['a family, joined', '👩‍👩‍👧'],
    ['a flag and a skin tone', '🇩🇪👍🏽'],
    ['combining marks', 'cafe\u0301'],
  ])('stays aligned with %s in a kind (lazygit 3514, 3711)', (_what, kind) => {
    const lines = table(
      ['KIND', 'STATUS'],
      [
        [kind, '|'],
        ['resize', '|'],
      ],
      { columns: 80 },
    );
    const columns = lines.slice(1).map((line) => stringWidth(line.slice(0, line.indexOf('|'))));
    expect(new Set(columns).size).toBe(1);
  });

  it('starts each column at the same place in every row, and stays in the room there is', () => {
    const row = fc.tuple(awkward, awkward, awkward);
    const room = fc.integer({ min: 60, max: 120 });
    fc.assert(
      fc.property(fc.array(row), room, fc.subarray([0, 1]), (rows, columns, right) => {
        const marked = rows.map(([a, b, c]) => [`<${a}>`, `<${b}>`, `<${c}`]);
        const lines = table(['A', 'B', 'C'], marked, { columns, right });
        expect(lines).toHaveLength(rows.length + 1);
        // The last column starts right of both others.
        const starts = lines
          .slice(1)
          .map((line) => stringWidth(line.slice(0, line.lastIndexOf('<'))));
        expect(new Set(starts).size).toBeLessThanOrEqual(1);
        for (const line of lines) expect(stringWidth(line)).toBeLessThanOrEqual(columns);
        for (const line of lines) expect(line).toBe(line.trimEnd());
      }),
    );
  });

  it('cuts the last column to the room there is, but never below a few columns (gh-dash 796)', () => {
    const rows = [['7', 'x'.repeat(200)]];
    const at = (columns: number) => table(['ID', 'ERROR'], rows, { columns })[1]!;
    expect(at(40)).toBe(`7   ${'x'.repeat(35)}…`);
    expect(stringWidth(at(40))).toBe(40);
    expect(at(1)).toBe(`7   ${'x'.repeat(7)}…`);
  });

  it('fills cells that are missing, and holds without rows', () => {
    expect(table(['A', 'B'], [[], ['x']], { columns: 80 })).toEqual(['A  B', '', 'x']);
    expect(table(['A', 'B'], [], { columns: 80 })).toEqual(['A  B']);
    expect(table(['A'], [['x']], { columns: 80 })).toEqual(['A', 'x']);
  });

  it('sets a last column right that holds numbers', () => {
    const rows = [
      ['a', '7'],
      ['b', '1234'],
    ];
    expect(table(['KIND', 'JOBS'], rows, { columns: 80, right: [1] })).toEqual([
      'KIND  JOBS',
      'a        7',
      'b     1234',
    ]);
  });
});
