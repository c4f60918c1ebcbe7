/** Writes an invoice: the head, then what a service says. The next attempt finds a file and stops. */
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const invoice = join(process.env.JOBQ_OUTPUT_DIR, 'invoice.txt');
try {
  const payload = JSON.parse(readFileSync(process.argv[2], 'utf8'));
  if (typeof payload?.customer !== 'string') throw new Error('payload.customer must be a text');
  if (!existsSync(invoice)) {
    writeFileSync(invoice, `invoice for ${payload.customer}\n`);
    const answer = await fetch('https://tax.example.test/rate', {
      signal: AbortSignal.timeout(2_000),
    });
    if (!answer.ok) throw new Error(`no tax rate: ${answer.status}`);
    appendFileSync(invoice, `tax ${(await answer.json()).rate}\n`);
  }
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
