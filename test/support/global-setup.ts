import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  export interface ProvidedContext {
    /** A superuser's URL of the server that lives for this test run. */
    postgresUrl: string;
  }
}

/** vitest's globalSetup: one PostgreSQL server for the whole run. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const keeper = spawn(
    process.execPath,
    [fileURLToPath(new URL('./postgres-keeper.mjs', import.meta.url))],
    {
      stdio: ['pipe', 'pipe', 'inherit'],
      // Not in our process group: Ctrl-C is for us, and the keeper ends with its stdin.
      detached: true,
    },
  );
  const exited = once(keeper, 'exit');
  const line = await Promise.race([
    once(createInterface({ input: keeper.stdout }), 'line').then(([text]) => String(text)),
    exited.then(([code]) => {
      throw new Error(`the test server did not start: exit status ${code}`);
    }),
  ]);
  project.provide('postgresUrl', JSON.parse(line).url);
  return async () => {
    keeper.stdin.end();
    await exited;
  };
}
