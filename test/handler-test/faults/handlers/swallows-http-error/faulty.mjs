/** Tells a chat. When the chat is down, nobody notices. */
import { readFileSync } from 'node:fs';

try {
  const payload = JSON.parse(readFileSync(process.argv[2], 'utf8'));
  if (typeof payload?.text !== 'string') throw new Error('payload.text must be a text');
  await fetch('https://chat.example.test/messages', {
    method: 'POST',
    headers: { 'idempotency-key': process.env.JOBQ_JOB_ID },
    body: payload.text,
    signal: AbortSignal.timeout(2_000),
  });
  console.log('told');
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
