/** The package as a user gets it: packed, installed into an empty folder, run as `npx jobq-dev`. */
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { interruptGroup, jobq, scratch, start } from '../support/cli.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const MINUTES = 60_000;

describe('the package', () => {
  it('works when installed into an empty folder', { timeout: 5 * MINUTES }, async () => {
    const packed = scratch();
    const cwd = scratch();
    const npm = (args: string[], at: string) => jobq(args, { cwd: at, command: ['npm'] });
    // dist is built already; building it again here would pull it away from under other tests.
    const pack = await npm(['pack', '--ignore-scripts', '--pack-destination', packed], ROOT);
    expect(pack.status, pack.stderr).toBe(0);
    const [tarball] = readdirSync(packed);
    writeFileSync(path.join(cwd, 'package.json'), '{"private": true}');
    const install = await npm(
      ['install', '--prefer-offline', '--no-audit', '--no-fund', path.join(packed, tarball!)],
      cwd,
    );
    expect(install.status, install.stderr).toBe(0);

    const npx = (...args: string[]) => jobq(['jobq-dev', ...args], { cwd, command: ['npx'] });
    expect((await npx('init')).stdout).toContain('created handlers/hello.py');
    const replay = await npx('replay', 'fixtures/first-jobs.jsonl');
    expect(replay.stdout).toContain('Passed: every job ended as it should.');
    expect(replay.status).toBe(0);
    expect((await npx('enqueue', 'hello', '{"name":"Ada"}', '--json')).stdout).toBe('{"id":"1"}\n');
    expect(JSON.parse((await npx('drain', '--json')).stdout)).toMatchObject({ done: 1 });

    const emulator = start(['jobq-dev', '--port', '0'], { cwd, command: ['npx'], group: true });
    await emulator.seen(/^jobq-dev ready at/m);
    interruptGroup(emulator);
    const ended = await emulator.ended;
    expect(ended.stderr).toMatch(/^stopped http/m);
    expect(existsSync(path.join(cwd, '.jobq/pgdata/PG_VERSION'))).toBe(true);
  });
});
