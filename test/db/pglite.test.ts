import { freshMemoryDatabase } from '../support/postgres.js';
import { databaseConformance } from './conformance.js';

databaseConformance('PGlite', freshMemoryDatabase);
