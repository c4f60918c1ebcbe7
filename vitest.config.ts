import { defineConfig } from 'vitest/config';

// Tests import the compiled package (`#src/…` resolves to dist/), so what is tested is what ships:
// worker threads, migrations and assets are found by the same paths as at a user's.
export default defineConfig({
  test: {
    include: ['test/**/*.test.ts', 'test/**/*.test.tsx'],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // For what is waited for: a shared machine can stand still for a while.
    expect: { poll: { timeout: 20_000 } },
    maxWorkers: 2,
    globalSetup: 'test/support/global-setup.ts',
  },
});
