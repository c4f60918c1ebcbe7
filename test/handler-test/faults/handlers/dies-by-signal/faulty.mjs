/** Resizes an image. A size that it does not like takes the whole process down. */
import { readFileSync } from 'node:fs';

const payload = JSON.parse(readFileSync(process.argv[2], 'utf8'));
if (!Number.isInteger(payload?.width)) process.abort();
console.log(`resized to ${payload.width}`);
