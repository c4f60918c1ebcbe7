/** `jobq-dev jobs …`: look at jobs, and act on them. */
export { cancel, edit, retry } from './change.js';
export { lineage, list } from './list.js';
export { logs } from './logs.js';
export { explain, show } from './show.js';
