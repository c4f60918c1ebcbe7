export { cleanLeftovers, type Leftovers } from './journal.js';
export {
  createProcessProvider,
  type ProcessProvider,
  type ProcessProviderInfo,
  type ProcessProviderOptions,
} from './provider.js';
