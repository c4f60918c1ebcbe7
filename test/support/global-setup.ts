import type { TestProject } from 'vitest/node';
import { PostgresServer } from './postgres-server.mjs';

declare module 'vitest' {
  export interface ProvidedContext {
    /** A superuser's URL of the server that lives for this test run. */
    postgresUrl: string;
  }
}

/** vitest's globalSetup: one PostgreSQL server for the whole run. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await PostgresServer.start();
  project.provide('postgresUrl', server.url);
  return () => server.close();
}
