import { beforeAll, describe, it } from 'vitest';
import { migrate } from '#src/db/migrate.js';
import { emptyDatabaseUrl } from '../../support/postgres.js';
import { VERBS } from '../model/verbs.js';
import { BY_HAND } from './by-hand.js';
import { CLAIM } from './claim.js';
import { MIGRATE } from './migrate.js';
import { REAP } from './reap.js';
import { playOn, preparedDatabaseUrl } from './scene.js';
import { SETTLE } from './settle.js';
import { GATES_OF_MIGRATIONS, Stage } from './stage.js';

const byName = <T extends { name: string }>(all: T[]) => all.map((one) => [one.name, one] as const);

let url: string;
beforeAll(async () => {
  url = await preparedDatabaseUrl();
});

describe.each([
  ['claim', CLAIM],
  ['settle', SETTLE],
  ['reap', REAP],
  ['by hand', BY_HAND],
])('%s', (_title, interleavings) => {
  it.each(byName(interleavings))('%s', (_name, one) => playOn(url, one, VERBS));
});

describe('migrate', () => {
  it.each(byName(MIGRATE))('%s', async (_name, { play }) => {
    const stage = await Stage.open(await emptyDatabaseUrl(), GATES_OF_MIGRATIONS);
    try {
      await play(stage, migrate);
    } finally {
      await stage.close();
    }
  });
});
