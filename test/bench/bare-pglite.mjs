/** Bare PGlite: opens a directory, or loads the prepared one into a new directory, and says so. */
import { readFileSync } from 'node:fs';
import { PGlite } from '@electric-sql/pglite';

const [how, dataDir] = process.argv.slice(2);
const template = new URL('../../dist/template/pgdata.tar.gz', import.meta.url);
const db = await PGlite.create({
  dataDir,
  ...(how === 'load' && { loadDataDir: new Blob([readFileSync(template)]) }),
});
await db.query('select 1');
console.log('ready');
setInterval(() => {}, 1_000);
