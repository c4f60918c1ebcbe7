export { cleanLeftovers } from './journal.js';
export { createProcessProvider, type ProcessProvider } from './provider.js';
