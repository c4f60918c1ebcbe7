/** Writes an invoice: first everything is gathered, then the file gets its name. */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const invoice = join(process.env.JOBQ_OUTPUT_DIR, 'invoice.txt');
try {
  const payload = JSON.parse(readFileSync(process.argv[2], 'utf8'));
  if (typeof payload?.customer !== 'string') throw new Error('payload.customer must be a text');
  const answer = await fetch('https://tax.example.test/rate', {
    signal: AbortSignal.timeout(2_000),
  });
  if (!answer.ok) throw new Error(`no tax rate: ${answer.status}`);
  const { rate } = await answer.json();
  writeFileSync(`${invoice}.part`, `invoice for ${payload.customer}\ntax ${rate}\n`);
  renameSync(`${invoice}.part`, invoice);
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
