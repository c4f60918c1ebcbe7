/** Numbers an order by counting how often it ran. */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const file = join(process.env.JOBQ_OUTPUT_DIR, 'number');
const before = existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0;
writeFileSync(`${file}.part`, String(before + 1));
renameSync(`${file}.part`, file);
