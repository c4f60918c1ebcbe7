/** Drivers and tools of other languages, each with its own program (clients/). */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CLIENTS, runClient } from './clients/clients.mjs';
import { startWire, type WirePort } from './servers.js';

/** Set where all of them are installed: then one that is missing is a failure. */
const REQUIRED = process.env.JOBQ_REQUIRE_PG_CLIENTS === '1';

describe('the port on PGlite, to clients', () => {
  let port: WirePort;
  beforeAll(async () => {
    port = await startWire();
  });
  afterAll(() => port.close());

  for (const client of CLIENTS) {
    const version = client.version();
    if (version === undefined && !REQUIRED) {
      process.stderr.write(`skipped: ${client.name} is not installed here\n`);
    }
    it.skipIf(version === undefined && !REQUIRED)(client.name, { timeout: 180_000 }, async () => {
      expect(version, `${client.name} is not installed`).toBeDefined();
      expect(await runClient(client, port.url)).toEqual({});
      expect(port.warnings).toEqual([]);
    });
  }
});
