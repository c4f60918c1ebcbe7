import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Store } from '#ui/store/store.js';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** A store that counts, and the frames that were drawn of it. */
function counting() {
  const store = new Store(0);
  const frames: number[] = [];
  store.subscribe(() => frames.push(store.snapshot()));
  const add = (when?: 'now') => store.update((count) => count + 1, when);
  return { store, frames, add };
}

describe('the store', () => {
  it('draws ten frames a second at most, whatever happens, and the last one holds it all', () => {
    const { frames, add } = counting();
    for (let ms = 0; ms < 1_000; ms += 1) {
      for (let event = 0; event < 10; event += 1) add();
      vi.advanceTimersByTime(1);
    }
    vi.advanceTimersByTime(100);
    expect(frames.length).toBeGreaterThanOrEqual(9);
    expect(frames.length).toBeLessThanOrEqual(11);
    expect(frames.at(-1)).toBe(10_000);
  });

  it('draws what a key did at once', () => {
    const { frames, add } = counting();
    add('now');
    add('now');
    expect(frames).toEqual([1, 2]);
  });

  it('stands still between two frames', () => {
    const { store, add } = counting();
    add('now');
    add();
    expect([store.snapshot(), store.state]).toEqual([1, 2]);
    vi.advanceTimersByTime(100);
    expect(store.snapshot()).toBe(2);
  });

  it('draws nothing when nothing has changed', () => {
    const { store, frames } = counting();
    store.update((count) => count);
    store.update((count) => count, 'now');
    vi.advanceTimersByTime(1_000);
    expect(frames).toEqual([]);
  });

  it('draws less often where a frame takes long, so that the emulator comes first', () => {
    const { store, frames, add } = counting();
    store.subscribe(() => vi.advanceTimersByTime(40));
    add('now');
    // The event loop goes on, and the store learns what the frame took.
    vi.advanceTimersByTime(0);
    for (let ms = 0; ms < 350; ms += 10) {
      add();
      vi.advanceTimersByTime(10);
    }
    expect(frames).toHaveLength(1);
    vi.advanceTimersByTime(100);
    expect(frames).toHaveLength(2);
  });
});
