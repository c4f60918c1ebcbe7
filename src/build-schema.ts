/** Run by `npm run build`: writes the JSON schema of the configuration, for editors. */
import { writeFileSync } from 'node:fs';
import { PACKAGE_ROOT } from './paths.js';
import { configSchema } from './settings.js';

writeFileSync(
  new URL('dist/jobq.config.schema.json', PACKAGE_ROOT),
  `${JSON.stringify(configSchema(), null, 2)}\n`,
);
