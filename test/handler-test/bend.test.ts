import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bends } from '#src/handler-test/checks/bend.js';

const PAYLOAD =
  '{"id": 1970670598291982290, "user": {"name": "Ada", "tags": ["a", "b"]}, "on": true}';

describe('bent payloads', () => {
  it('are the same for the same seed, and others for another', () => {
    expect(bends(PAYLOAD, 'a', 16)).toEqual(bends(PAYLOAD, 'a', 16));
    expect(bends(PAYLOAD, 'a', 16)).not.toEqual(bends(PAYLOAD, 'b', 16));
  });

  it('are bent in every way that fits somewhere', () => {
    const names = bends(PAYLOAD, 'a', 40).map(({ name }) => name);
    for (const way of [
      'missing',
      'null',
      'of another type',
      'empty',
      'huge',
      'deeply nested',
      'strange text',
    ]) {
      expect(names.join('\n')).toContain(`is ${way}`);
    }
    expect(names).toContain('the payload is null');
  });

  it('say what was done where, and leave every other digit as it was', () => {
    const found = bends(PAYLOAD, 'a', 60);
    expect(found).toContainEqual({
      name: 'on is missing',
      payload: '{"id": 1970670598291982290, "user": {"name": "Ada", "tags": ["a", "b"]}}',
    });
    expect(found).toContainEqual({
      name: 'user.name is null',
      payload: PAYLOAD.replace('"Ada"', 'null'),
    });
  });

  it('are JSON, no more than asked for, each another and none the payload', () => {
    fc.assert(
      fc.property(fc.json(), fc.string(), fc.integer({ min: 1, max: 20 }), (json, seed, count) => {
        const payload = JSON.stringify(JSON.parse(json));
        const texts = bends(payload, seed, count).map((bend) => bend.payload);
        for (const text of texts) JSON.parse(text);
        expect(new Set(texts).size).toBe(texts.length);
        expect(texts).not.toContain(payload);
        // The payload as a whole is replaced in up to five ways, whatever was asked for.
        expect(texts.length).toBeLessThanOrEqual(Math.max(count, 5));
      }),
      { numRuns: 200 },
    );
  });
});
