export { createPandastackProvider } from './provider.js';
