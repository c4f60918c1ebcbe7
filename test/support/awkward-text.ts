import fc from 'fast-check';

/** What kinds and errors hold that counts differently as units, characters and columns. */
export const awkward = fc.string({
  unit: fc.constantFrom(
    'a',
    ' ',
    '支',
    '払',
    'é',
    'e\u0301',
    '🦀',
    '👩‍👩‍👧',
    '👍🏽',
    '🇩🇪',
    '❤️',
    'ｱ',
    'مر',
    '한',
  ),
  maxLength: 12,
});
