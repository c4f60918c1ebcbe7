// Waits for a line on stdin, then tries to take the lock named by its argument and says what came of
// it. A winner keeps it until its stdin ends; `die` as second argument: without giving it back.
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { acquireLock } from '#src/db/lock.js';

const [dir, how] = process.argv.slice(2);
const lines = createInterface({ input: process.stdin });
const say = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);

say({ ready: process.pid });
await once(lines, 'line');
try {
  const lock = await acquireLock(dir, { command: `contender ${process.pid}` });
  say({ won: process.pid });
  await once(lines, 'close');
  if (how === 'die') process.kill(process.pid, 'SIGKILL');
  lock.release();
} catch (error) {
  say({ lost: error.code, message: error.message });
}
process.exit();
