/** Run by `npm run build`: writes the JSON schema of the configuration, for editors. */
import { writeFileSync } from 'node:fs';
import { configSchema } from './config.js';
import { PACKAGE_ROOT } from './paths.js';

writeFileSync(
  new URL('dist/jobq.config.schema.json', PACKAGE_ROOT),
  `${JSON.stringify(configSchema(), null, 2)}\n`,
);
