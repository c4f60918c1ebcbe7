/** Charges a card. The key is that of the job. */
import { readFileSync } from 'node:fs';

try {
  const payload = JSON.parse(readFileSync(process.argv[2], 'utf8'));
  if (!Number.isInteger(payload?.amount)) throw new Error('payload.amount must be a whole number');
  const answer = await fetch('https://pay.example.test/charges', {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'idempotency-key': `job-${process.env.JOBQ_JOB_ID}`,
    },
    body: JSON.stringify({ amount: payload.amount }),
    signal: AbortSignal.timeout(2_000),
  });
  if (!answer.ok) throw new Error(`the charge failed: ${answer.status}`);
  console.log(`charged ${(await answer.json()).id}`);
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
