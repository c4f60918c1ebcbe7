import { readFileSync } from 'node:fs';
import { PACKAGE_ROOT } from './paths.js';

/** This package's version. */
export const VERSION: string = JSON.parse(
  readFileSync(new URL('package.json', PACKAGE_ROOT), 'utf8'),
).version;
