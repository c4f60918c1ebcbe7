/** Pays from one account to another, and notes it, all in one transaction. */
import { readFileSync } from 'node:fs';
import pg from 'pg';

const client = new pg.Client({ connectionString: process.env.DATABASE_URL });
const move = 'update accounts set cents = cents + $1 where name = $2';
try {
  const { cents } = JSON.parse(readFileSync(process.argv[2], 'utf8')) ?? {};
  if (!Number.isInteger(cents) || cents < 1 || cents > 10_000) {
    throw new Error('payload.cents must be a whole number from 1 to 10,000');
  }
  await client.connect();
  await client.query('begin');
  const first = await client.query(
    'insert into payments (job) values ($1) on conflict (job) do nothing',
    [process.env.JOBQ_JOB_ID],
  );
  if (first.rowCount === 1) {
    await client.query(move, [-cents, 'customer']);
    await client.query(move, [cents, 'shop']);
  }
  await client.query('commit');
  console.log(`paid ${cents}`);
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
} finally {
  await client.end();
}
