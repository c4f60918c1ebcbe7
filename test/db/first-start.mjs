// Opens the data directory named by its argument and says so; stays until it is killed.
import { openDatabase } from '#src/db/open.js';

await openDatabase({ dataDir: process.argv[2], command: 'first start' });
process.stdout.write('open\n');
