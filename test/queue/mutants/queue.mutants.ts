/** Each broken queue must be noticed, by the very rule that its row names. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '#src/db/port.js';
import { emptyDatabaseUrl, freshDatabaseUrl, freshMemoryDatabase } from '../../support/postgres.js';
import { tempDir } from '../../support/temp-dir.js';
import { BY_HAND } from '../interleavings/by-hand.js';
import { CLAIM } from '../interleavings/claim.js';
import { MIGRATE } from '../interleavings/migrate.js';
import { REAP } from '../interleavings/reap.js';
import { playOn, preparedDatabaseUrl } from '../interleavings/scene.js';
import { SETTLE } from '../interleavings/settle.js';
import { GATES_OF_MIGRATIONS, Stage } from '../interleavings/stage.js';
import { DRAINERS, sequence } from '../model/commands.js';
import { openDrainers } from '../model/drainers.js';
import { Fault, Tally } from '../model/fault.js';
import { INVARIANTS, installReferee } from '../model/invariants.js';
import { play } from '../model/play.js';
import { playTogether, race } from '../model/together.js';
import type { Verbs } from '../model/verbs.js';
import { brokenQueue } from './broken-queue.js';
import type { Constraint, Mutant } from './mutant.js';
import { OF_INTERLEAVINGS } from './of-interleavings.js';
import { OF_INVARIANTS } from './of-invariants.js';
import { OF_RACES } from './of-races.js';
import { OF_THE_MODEL } from './of-the-model.js';

const MUTANTS = [...OF_INVARIANTS, ...OF_THE_MODEL, ...OF_RACES, ...OF_INTERLEAVINGS];
const SCENES = [...CLAIM, ...SETTLE, ...REAP, ...BY_HAND];
/** As many as the tests play, or fewer. */
const SEQUENCES = 500;
const RACES = 300;

let memory: Database[];
let drainers: Database[];
let sceneUrl: string;

beforeAll(async () => {
  const db = await freshMemoryDatabase();
  await installReferee(db);
  memory = Array.from({ length: DRAINERS }, () => db);
  drainers = await openDrainers(await freshDatabaseUrl());
  sceneUrl = await preparedDatabaseUrl();
});
afterAll(() => Promise.all([memory[0]!, ...drainers].map((db) => db.close())));

const inSequences = (verbs: Verbs, model: boolean) => (commands: Parameters<typeof play>[0]) =>
  play(commands, memory, verbs, new Tally(), { model });
const inRaces = (verbs: Verbs) => (drawn: Parameters<typeof playTogether>[0]) =>
  playTogether(drawn, drainers, verbs, new Tally());

/** Plays until the rule is seen to break. The same inputs each time. */
async function expectFault<Input>(
  rule: string,
  inputs: fc.Arbitrary<Input>,
  numRuns: number,
  playOne: (input: Input) => Promise<void>,
): Promise<void> {
  const others = new Set<string>();
  for (const input of fc.sample(fc.noBias(inputs), { numRuns, seed: 1 })) {
    try {
      await playOne(input);
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      if (error.rule === rule) return;
      others.add(error.rule);
    }
  }
  const instead = others.size === 0 ? 'nothing' : [...others].join('; ');
  throw new Error(`not noticed in ${numRuns} runs. What broke: ${instead}`);
}

async function dropping(
  db: Database,
  { table, name, definition }: Constraint,
  work: () => Promise<void>,
): Promise<void> {
  await db.exec(`alter table ${table} drop constraint ${name}`);
  try {
    await work();
  } finally {
    await db.exec(`delete from jobs; alter table ${table} add constraint ${name} ${definition}`);
  }
}

async function expectNoticed({ seenBy, without }: Mutant, verbs: Verbs): Promise<void> {
  if ('scenes' in seenBy) {
    for (const name of seenBy.scenes) {
      const scene = SCENES.find((one) => one.name === name);
      expect(scene, name).toBeDefined();
      const error = await playOn(sceneUrl, scene!, verbs).catch((reason: unknown) => reason);
      expect(error, name).toBeInstanceOf(Error);
      // Broken, but SQL.
      expect(error, name).not.toMatchObject({ sqlstate: expect.stringMatching(/^42/) });
    }
    return;
  }
  const [db, work] =
    'race' in seenBy
      ? [drainers[0]!, () => expectFault(seenBy.race, race, RACES, inRaces(verbs))]
      : 'model' in seenBy
        ? [
            memory[0]!,
            () => expectFault(seenBy.model, sequence, SEQUENCES, inSequences(verbs, true)),
          ]
        : [
            memory[0]!,
            () => expectFault(seenBy.invariant, sequence, SEQUENCES, inSequences(verbs, false)),
          ];
  await (without === undefined ? work() : dropping(db, without, work));
}

it('a copy of the queue with nothing broken passes', async () => {
  const nothing = { file: 'queue/claim.js', from: 'limit $2::int', to: 'limit $2::int' };
  const { verbs } = await brokenQueue(tempDir(), nothing);
  const few = { numRuns: 20, seed: 1 };
  for (const one of fc.sample(fc.noBias(sequence), few)) await inSequences(verbs, true)(one);
  for (const one of fc.sample(fc.noBias(race), few)) await inRaces(verbs)(one);
  for (const [scene] of [CLAIM, SETTLE, REAP, BY_HAND]) await playOn(sceneUrl, scene!, verbs);
});

describe('noticed:', () => {
  it.each(MUTANTS.map((mutant) => [mutant.what, mutant] as const))('%s', async (_what, mutant) => {
    const { verbs } = await brokenQueue(tempDir(), mutant);
    await expectNoticed(mutant, verbs);
  });

  it('two processes migrate at once', async () => {
    const { migrate } = await brokenQueue(tempDir(), {
      file: 'db/migrate.js',
      from: "await tx.query('select pg_advisory_xact_lock($1)', [LOCK]);",
      to: '',
    });
    const stage = await Stage.open(await emptyDatabaseUrl(), GATES_OF_MIGRATIONS);
    try {
      await expect(MIGRATE[0]!.play(stage, migrate)).rejects.toThrow();
    } finally {
      await stage.close();
    }
  });
});

it('every invariant notices something', () => {
  const noticing = MUTANTS.flatMap(({ seenBy }) => ('invariant' in seenBy ? seenBy.invariant : []));
  expect(INVARIANTS.filter((invariant) => !noticing.includes(invariant))).toEqual([]);
});
