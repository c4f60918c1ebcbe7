/** Tells a chat. When the chat is down, the attempt has failed. */
import { readFileSync } from 'node:fs';

try {
  const payload = JSON.parse(readFileSync(process.argv[2], 'utf8'));
  if (typeof payload?.text !== 'string') throw new Error('payload.text must be a text');
  const answer = await fetch('https://chat.example.test/messages', {
    method: 'POST',
    headers: { 'idempotency-key': process.env.JOBQ_JOB_ID },
    body: payload.text,
    signal: AbortSignal.timeout(2_000),
  });
  if (!answer.ok) throw new Error(`the chat answered ${answer.status}`);
  console.log('told');
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
