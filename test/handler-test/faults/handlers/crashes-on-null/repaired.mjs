/** Greets a user, and says what is wrong with one that it cannot greet. */
import { readFileSync } from 'node:fs';

const payload = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const name = payload?.user?.name;
if (typeof name === 'string') {
  console.log(`hello ${name.trim()}`);
} else {
  console.error('payload.user.name must be a text');
  process.exitCode = 1;
}
