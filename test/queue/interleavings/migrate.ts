/** Two processes that start on the same empty database. */
import { expect } from 'vitest';
import type { migrate } from '#src/db/migrate.js';
import { migrationFiles } from '#src/db/migrate.js';
import type { Stage } from './stage.js';

export interface MigrateInterleaving {
  name: string;
  play(stage: Stage, verb: typeof migrate): Promise<void>;
}

const versions = async (stage: Stage) => {
  const { rows } = await stage.db.query<{ name: string }>(
    'select name from jobq_migrations order by version',
  );
  return rows.map(({ name }) => name);
};

export const MIGRATE: MigrateInterleaving[] = [
  {
    name: 'a second process starts while the first one migrates',
    async play(stage, migrate) {
      const names = (await migrationFiles()).map(({ name }) => name);
      const one = await stage.actor({ pauseAt: 'index' });
      const first = await one.hold((db) => migrate(db));
      const two = await stage.actor();
      const second = await two.waitFor(one, (db) => migrate(db));
      await one.resume();
      expect(await first.result).toEqual({ applied: names });
      expect(await second.result).toEqual({ applied: [] });
      expect(await versions(stage)).toEqual(names);
    },
  },
  {
    name: 'the first process dies in the middle of a migration, and the second one waits for it',
    async play(stage, migrate) {
      const names = (await migrationFiles()).map(({ name }) => name);
      const one = await stage.actor({ pauseAt: 'index' });
      const first = await one.hold((db) => migrate(db));
      const two = await stage.actor();
      const second = await two.waitFor(one, (db) => migrate(db));
      await one.die();
      await expect(first.result).rejects.toMatchObject({ code: 'database-unreachable' });
      expect(await second.result).toEqual({ applied: names });
      expect(await versions(stage)).toEqual(names);
    },
  },
];
