export { buildSandbox } from './build.js';
export { checkQemu } from './check.js';
export { chooseAccelerator, hardwareHere } from './choose.js';
export { createQemuProvider } from './provider.js';
