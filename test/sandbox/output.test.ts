import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OutputCapture } from '#src/sandbox/output.js';

function capture(limitBytes: number, chunks: Uint8Array[]) {
  let streamed = '';
  const output = new OutputCapture(limitBytes, (text) => {
    streamed += text;
  });
  for (const chunk of chunks) output.push(chunk);
  return { ...output.finish(), streamed };
}

/** Cuts bytes at the given places. */
function cut(bytes: Buffer, places: number[]): Uint8Array[] {
  const at = [0, ...places.map((place) => place % (bytes.length + 1)).sort((a, b) => a - b)];
  return at.map((start, index) => bytes.subarray(start, at[index + 1] ?? bytes.length));
}

describe('OutputCapture', () => {
  it('gives any text back, however it is cut', () => {
    const text = fc.string({ unit: 'binary', maxLength: 200 });
    fc.assert(
      fc.property(text, fc.array(fc.nat(), { maxLength: 20 }), (original, places) => {
        const bytes = Buffer.from(original);
        const result = capture(1 << 20, cut(bytes, places));
        expect(result.text).toBe(original);
        expect(result.streamed).toBe(original);
        expect(result.totalBytes).toBe(bytes.length);
        expect(result.truncated).toBe(false);
      }),
    );
  });

  it('keeps the longest tail of whole characters', () => {
    const text = fc.string({ unit: 'binary', maxLength: 100 });
    const places = fc.array(fc.nat(), { maxLength: 20 });
    fc.assert(
      fc.property(text, places, fc.nat(50), (original, cuts, limitBytes) => {
        const bytes = Buffer.from(original);
        const result = capture(limitBytes, cut(bytes, cuts));
        expect(original.endsWith(result.text)).toBe(true);
        const length = Buffer.byteLength(result.text);
        expect(length).toBeLessThanOrEqual(limitBytes);
        expect(length).toBeGreaterThan(Math.min(limitBytes, bytes.length) - 4);
        expect(result.truncated).toBe(bytes.length > limitBytes);
      }),
    );
  });

  it('decodes any bytes as one decoder does', () => {
    const bytes = fc.uint8Array({ maxLength: 300 });
    fc.assert(
      fc.property(bytes, fc.array(fc.nat(), { maxLength: 20 }), (data, places) => {
        const buffer = Buffer.from(data);
        const result = capture(1 << 20, cut(buffer, places));
        const whole = new TextDecoder('utf-8', { ignoreBOM: true }).decode(buffer);
        expect(result.text).toBe(whole);
        expect(result.streamed).toBe(whole);
      }),
    );
  });

  it('takes 50 MB in small pieces in linear time and little memory', () => {
    const output = new OutputCapture(1 << 20);
    const piece = Buffer.alloc(500, 'x');
    const before = process.memoryUsage();
    const startedAt = performance.now();
    for (let i = 0; i < 100_000; i++) output.push(piece);
    const result = output.finish();
    // Copying a megabyte for each piece would take 10 s and more.
    expect(performance.now() - startedAt).toBeLessThan(2_000);
    const after = process.memoryUsage();
    expect(after.arrayBuffers - before.arrayBuffers).toBeLessThan(8 << 20);
    expect(result.totalBytes).toBe(50_000_000);
    expect(result.text.length).toBe(1 << 20);
  });

  it('keeps nothing at a limit of 0, and still counts', () => {
    const result = capture(0, [Buffer.from('abc')]);
    expect(result).toEqual({ text: '', totalBytes: 3, truncated: true, streamed: 'abc' });
  });
});
