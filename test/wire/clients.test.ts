/** Drivers and tools of other languages, each with its own program (clients/). */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CLIENTS, runClient } from './clients/clients.mjs';
import { startWire, type WirePort } from './servers.js';

/** Names, with commas between them, or `all`: where one of these is missing, that is a failure. */
const REQUIRED = (process.env.TEST_REQUIRE_PG_CLIENTS ?? '').split(',');
const isRequired = (name: string) => REQUIRED.includes(name) || REQUIRED.includes('all');

describe('the port on PGlite, to clients', () => {
  let port: WirePort;
  beforeAll(async () => {
    // The programs of a busy machine may be slow.
    port = await startWire({ limits: { idleInTransactionMs: 120_000, warnAfterMs: 60_000 } });
  });
  afterAll(() => port.close());

  for (const client of CLIENTS) {
    const version = client.version();
    if (version === undefined && !isRequired(client.name)) {
      process.stderr.write(`skipped: ${client.name} is not installed here\n`);
    }
    it.skipIf(version === undefined && !isRequired(client.name))(
      client.name,
      { timeout: 180_000 },
      async () => {
        expect(version, `${client.name} is not installed`).toBeDefined();
        expect(await runClient(client, port.url)).toEqual({});
        expect(port.warnings).toEqual([]);
      },
    );
  }
});
