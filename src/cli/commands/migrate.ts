import type { Command } from 'commander';
import { migrate as applyMigrations, migrationFiles } from '../../db/migrate.js';
import { openDatabase } from '../../db/open.js';
import { databaseOptions } from '../../open-world.js';
import { readInvocation } from '../options.js';

/** `jobq-dev migrate`: applies the migrations; `--print` only shows them. */
export async function migrate(command: Command): Promise<number> {
  const { config, output, flags } = readInvocation<{ print?: boolean }>(command);
  if (flags.print) {
    const files = await migrationFiles();
    output.document(files);
    for (const { name, sql } of files) output.line(`-- ${name}\n${sql}`);
    return 0;
  }
  const { db, lock } = await openDatabase(databaseOptions(config, 'jobq-dev migrate'));
  try {
    const { applied } = await applyMigrations(db);
    output.document({ database: db.location, applied });
    output.line(
      applied.length === 0
        ? `${db.location} is up to date`
        : `applied to ${db.location}: ${applied.join(', ')}`,
    );
    return 0;
  } finally {
    await db.close();
    lock?.release();
  }
}
