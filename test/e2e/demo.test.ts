/** `npm start`: the first thing that anyone runs. */
import { existsSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { jobq } from '../support/cli.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

describe('npm start', () => {
  it('plays the burst to its end, with a report', { timeout: 240_000 }, async () => {
    const { status, stdout, stderr } = await jobq(['start'], { cwd: ROOT, command: ['npm'] });
    expect(stdout).toContain('240 jobs, 282 attempts');
    expect(stdout).toMatch(/^push +14 +13 +1 /m);
    expect(stdout).toMatch(/3× dead +push: payload\.commits is missing/);
    expect(stdout).toContain('Passed: every job ended as it should. 8 died');
    expect(stdout + stderr).not.toMatch(/[\u001b\u0080-\u009f]/);
    expect(status).toBe(0);
    const [, output] = /what the handlers wrote: (.*)/.exec(stderr)!;
    expect(readdirSync(output!).length).toBeGreaterThan(230);
    expect(existsSync(path.join(output!, '1'))).toBe(true);
    rmSync(path.dirname(output!), { recursive: true });
  });
});
