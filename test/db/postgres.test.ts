import { freshDatabase } from '../support/postgres.js';
import { databaseConformance } from './conformance.js';

databaseConformance('Postgres', freshDatabase);
