/** Books an order. The job is booked once, however often it comes. */
import { readFileSync } from 'node:fs';
import pg from 'pg';

const client = new pg.Client({ connectionString: process.env.DATABASE_URL });
try {
  const payload = JSON.parse(readFileSync(process.argv[2], 'utf8'));
  if (!Number.isSafeInteger(payload?.order)) throw new Error('payload.order must be a number');
  await client.connect();
  await client.query(
    'insert into orders (number, job) values ($1, $2) on conflict (job) do nothing',
    [payload.order, process.env.JOBQ_JOB_ID],
  );
  console.log(`booked ${payload.order}`);
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
} finally {
  await client.end();
}
