import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A new directory for the test that asks, deleted when it is over. */
export function tempDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'jobq-test-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}
