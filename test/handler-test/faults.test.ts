/** Every known fault is found, named rightly, and not found in its repaired twin. */
import { cpSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHECKS } from '#src/handler-test/checks/check.js';
import type { CheckResult } from '#src/handler-test/report.js';
import { scratchFolder } from '../support/cli.js';
import { FAULTS } from './faults/table.js';
import { testFolder } from './test-folder.js';

const HERE = fileURLToPath(new URL('./faults/', import.meta.url));
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const DOC = fileURLToPath(new URL('../../docs/handler-tests.md', import.meta.url));

describe('known faults', () => {
  const { dir, remove } = scratchFolder();
  let results: CheckResult[] = [];

  beforeAll(async () => {
    // A copy: one of them writes beside its script.
    cpSync(HERE, dir, { recursive: true });
    const options = {
      named: ['cases.jsonl'],
      checks: CHECKS,
      jobs: availableParallelism(),
      memoryBytes: 128 * 1024 ** 2,
      patienceMs: 4_000,
    };
    const plain = await testFolder(dir, options);
    // Those that need a database have it for themselves: it is set up anew for each delivery.
    const database = path.join(dir, 'database');
    symlinkSync(path.join(ROOT, 'node_modules'), path.join(database, 'node_modules'));
    const setup = readFileSync(path.join(database, 'setup.sql'), 'utf8');
    const withRows = await testFolder(database, { ...options, setup });
    results = [...plain.results, ...withRows.results];
  }, 1_800_000);
  afterAll(remove);

  const failuresOf = (kind: string) =>
    results.filter((result) => result.kind === kind && result.verdict === 'failed');

  it('are all in the table, and in the documentation', () => {
    const names = ['handlers', 'database/handlers'].flatMap((folder) =>
      readdirSync(path.join(HERE, folder)),
    );
    expect(FAULTS.map(({ name }) => name).sort()).toEqual(names.sort());
    const doc = readFileSync(DOC, 'utf8').replaceAll(/ +/g, ' ');
    for (const { does, language, check, fault } of FAULTS) {
      expect(doc).toContain(`| ${does} | ${language} | \`${check}\` | \`${fault}\` |`);
    }
  });

  it.each(FAULTS)('$name: $check finds it', ({ name, check, fault, says, also = [] }) => {
    const failures = failuresOf(`${name}/faulty`);
    const found = failures.find((result) => result.check === check)?.findings ?? [];
    expect(found).toContainEqual(
      expect.objectContaining({ fault, message: expect.stringContaining(says) }),
    );
    // And no check sees what is not there.
    const others = failures.map((result) => result.check).filter((each) => each !== check);
    expect([...also, ...others].filter((each) => !also.includes(each))).toEqual([]);
  });

  it.each(FAULTS)('$name: the repaired twin passes', ({ name }) => {
    expect(failuresOf(`${name}/repaired`).flatMap(({ findings }) => findings)).toEqual([]);
    expect(results.filter(({ kind }) => kind === `${name}/repaired`).length).toBeGreaterThan(4);
  });
});
