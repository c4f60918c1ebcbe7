/** Writes a certificate with the time that the payload gives. */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const payload = JSON.parse(readFileSync(process.argv[2], 'utf8'));
if (typeof payload?.at === 'string') {
  const file = join(process.env.JOBQ_OUTPUT_DIR, 'certificate.txt');
  writeFileSync(`${file}.part`, `passed\nat ${payload.at}\n`);
  renameSync(`${file}.part`, file);
} else {
  console.error('payload.at must be a time');
  process.exitCode = 1;
}
