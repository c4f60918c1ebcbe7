/** PGlite as an app uses it by itself, with the same tables: what ours is measured against. */
import { readFileSync } from 'node:fs';
import { PGlite } from '@electric-sql/pglite';
import { TEMPLATE_TAR } from '#src/db/template.js';

export function directPglite() {
  return PGlite.create({ loadDataDir: new Blob([readFileSync(TEMPLATE_TAR)]) });
}
