import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { keep, move, view } from '#ui/store/selection.js';

const TOP = { key: undefined, index: 0, top: 0 };
const keys = ['a', 'b', 'c', 'd', 'e'];

describe('a selection', () => {
  it('stays with its row when others come above it, and the view with it', () => {
    const chosen = move(TOP, keys, 3, 3);
    expect(chosen).toEqual({ key: 'd', index: 3, top: 1 });
    expect(keep(chosen, ['new', ...keys])).toEqual({ key: 'd', index: 4, top: 2 });
  });

  it('hands on to the row in its place when its own is gone', () => {
    const chosen = move(TOP, keys, 4, 3);
    expect(keep(chosen, ['a', 'b'])).toMatchObject({ key: 'b', index: 1 });
    expect(keep(chosen, [])).toMatchObject({ key: undefined, index: 0 });
  });

  it('is the first row, whichever that is, until something is chosen', () => {
    expect(keep(TOP, ['new', ...keys])).toBe(TOP);
    expect(move(move(TOP, keys, 1, 3), keys, -1, 3)).toEqual(TOP);
  });

  it('is always in view and always a row', () => {
    const steps = fc.array(fc.integer({ min: -9, max: 9 }));
    fc.assert(
      fc.property(steps, fc.nat(12), fc.nat(6), (moves, count, height) => {
        const rows = Array.from({ length: count }, (_, index) => `${index}`);
        let selection = { ...TOP } as ReturnType<typeof move>;
        for (const by of moves) selection = move(selection, rows, by, height);
        const top = view(selection, count, height);
        expect(selection.index).toBeLessThan(Math.max(1, count));
        expect(top).toBeLessThanOrEqual(selection.index);
        expect(selection.index).toBeLessThan(top + Math.max(1, height));
      }),
    );
  });
});
