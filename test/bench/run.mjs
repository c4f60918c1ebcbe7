/** `npm run bench [NAME…]`: prints ratios, each against what the project asks of it. */
import { api } from './api.mjs';
import { attempt } from './attempt.mjs';
import { growth } from './growth.mjs';
import { handlerTest } from './handler-test.mjs';
import { idle, replayMemory } from './life.mjs';
import { queue } from './queue.mjs';
import { start } from './start.mjs';
import { tui } from './tui.mjs';
import { vm } from './vm.mjs';
import { wire } from './wire.mjs';

const ALL = {
  queue,
  api,
  wire,
  growth,
  attempt,
  start,
  idle,
  replay: replayMemory,
  tui,
  'handler-test': handlerTest,
  vm,
};

const wanted = process.argv.slice(2);
for (const [name, run] of Object.entries(ALL)) {
  // MicroVMs are not on every machine: only when asked for.
  const isWanted = wanted.length === 0 ? name !== 'vm' : wanted.includes(name);
  if (isWanted) await run();
}
