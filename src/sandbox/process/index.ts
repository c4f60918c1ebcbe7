export { createProcessProvider, type ProcessProvider } from './provider.js';
