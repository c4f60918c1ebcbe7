/** Numbers an order once. */
import { existsSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const file = join(process.env.JOBQ_OUTPUT_DIR, 'number');
if (!existsSync(file)) {
  writeFileSync(`${file}.part`, '1');
  renameSync(`${file}.part`, file);
}
