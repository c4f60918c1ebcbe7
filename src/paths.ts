/** The package's own directory, where migrations, fixtures and docs lie (this file is in dist/src). */
export const PACKAGE_ROOT = new URL('../../', import.meta.url);
