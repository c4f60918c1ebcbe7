import { DatabaseError } from './port.js';

/** What a commit that the server turned into a rollback throws, for either driver. */
export function rolledBack(): DatabaseError {
  return new DatabaseError(
    'the transaction was rolled back, because a statement in it had failed',
    '25P02',
  );
}
