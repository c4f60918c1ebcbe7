import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { shellQuote } from '#ui/text/shell-quote.js';

it('a quoted word is one word to a shell, the same as before', () => {
  const word = fc.string({
    unit: fc.constantFrom('a', "'", '"', ' ', '$', '`', '\\', '\n', '{', '}', '!', '*', 'é', '-'),
    maxLength: 12,
  });
  fc.assert(
    fc.property(fc.array(word, { maxLength: 5 }), (words) => {
      const script = `for word in ${words.map(shellQuote).join(' ')}; do printf '%s\\0' "$word"; done`;
      const read = execFileSync('sh', ['-c', script], { encoding: 'utf8' });
      expect(read.split('\0').slice(0, -1)).toEqual(words);
    }),
    { numRuns: 30 },
  );
});
