/**
 * What each client program goes through. It gets the port's URL and a prefix for its tables, and
 * prints `ok STEP` or `not ok STEP: why` for each of these, in this order.
 */
export const STEPS = {
  connect: 'connects and asks for the version',
  migrate: 'makes its tables in one transaction',
  transaction: 'inserts a row and enqueues a job in one transaction, and both are there',
  rollback: 'does the same and rolls back, also after an error, and nothing is there',
  prepared: 'runs prepared statements again and again, on two connections at a time',
  batch: 'inserts 1,000 rows the way it does that best',
  listen: 'hears on one connection what another notifies of',
  pool: 'counts to 200 in transactions of a pool of 10 connections',
};

/** For the programs in JavaScript. @param {Partial<Record<keyof typeof STEPS, () => Promise<void>>>} steps */
export async function runSteps(steps) {
  for (const name of Object.keys(STEPS)) {
    if (steps[name] === undefined) continue;
    try {
      await steps[name]();
      console.log(`ok ${name}`);
    } catch (error) {
      console.log(`not ok ${name}: ${String(error?.message ?? error).split('\n')[0]}`);
    }
  }
}

export function equal(found, wanted) {
  if (JSON.stringify(found) !== JSON.stringify(wanted)) {
    throw new Error(`found ${JSON.stringify(found)}, not ${JSON.stringify(wanted)}`);
  }
}
