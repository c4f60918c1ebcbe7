// @ts-check
/** Vacuums a data directory again and again, until it is killed: `node vacuum.mjs DIST DATA_DIR`. */
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const [dist = '', dataDir = ''] = process.argv.slice(2);
const { openDatabase } = await import(pathToFileURL(path.join(dist, 'db/open.js')).href);
const { db } = await openDatabase({ dataDir, command: 'vacuum' });
process.stdout.write('vacuuming\n');
for (;;) {
  // Dead rows, so that there is something to do, and what the tool does by itself.
  await db.exec('update job_attempts set duration_ms = duration_ms + 1');
  for (const table of ['jobs', 'job_attempts']) {
    await db.exec(`vacuum (index_cleanup on) ${table}`);
    await db.exec(`analyze ${table}`);
  }
  await db.exec('checkpoint');
}
