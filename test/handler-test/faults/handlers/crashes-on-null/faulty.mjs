/** Greets a user. A user that is null is a stack trace. */
import { readFileSync } from 'node:fs';

const payload = JSON.parse(readFileSync(process.argv[2], 'utf8'));
console.log(`hello ${payload.user.name.trim()}`);
