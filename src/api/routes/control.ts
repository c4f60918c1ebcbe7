/** What steers the emulator. */
import { JobqError } from '../../errors.js';
import { json } from '../answer.js';
import { AdvanceBody, ReplayBody, SandboxBody } from '../contract.js';
import type { Leap } from '../control.js';
import { route } from '../route.js';

export const CONTROL_ROUTES = [
  route({
    method: 'post',
    path: '/drain',
    summary: 'One tick by hand; answers when nothing is due any more.',
    answers: 'Drained',
    handle: async ({ context, service }) => json(context, await service.drain()),
  }),
  route({
    method: 'post',
    path: '/advance',
    summary: 'Moves the clock ahead, by a duration or to a moment.',
    body: AdvanceBody,
    answers: 'Advanced',
    handle: async ({ context, service, body: { by, to } }) =>
      json(context, await service.control.advance(readLeap(by, to))),
  }),
  route({
    method: 'post',
    path: '/pause',
    summary: 'Holds the schedule; a drain by hand still runs.',
    answers: 'Paused',
    handle({ context, service }) {
      service.control.pause();
      return json(context, { paused: true });
    },
  }),
  route({
    method: 'post',
    path: '/resume',
    summary: 'Lets the schedule go on with its next slot.',
    answers: 'Paused',
    handle({ context, service }) {
      service.control.resume();
      return json(context, { paused: false });
    },
  }),
  route({
    method: 'post',
    path: '/sandbox',
    summary: 'Another sandbox provider from the next attempt on.',
    body: SandboxBody,
    answers: 'SandboxInUse',
    handle: async ({ context, service, body }) =>
      json(context, await service.control.useSandbox(body.provider)),
  }),
  route({
    method: 'post',
    path: '/replay',
    summary: 'Plays a fixture of the emulator’s machine into the queue, in real time.',
    body: ReplayBody,
    answers: 'ReplayStarted',
    handle: async ({ context, service, body: { path, speed } }) =>
      json(context, await service.control.replay(path, speed)),
  }),
  route({
    method: 'post',
    path: '/examples',
    summary: 'The example handlers, into the handlers directory; nothing is overwritten.',
    answers: 'Examples',
    handle: async ({ context, service }) => json(context, await service.control.copyExamples()),
  }),
];

function readLeap(
  by: number | undefined,
  to: Extract<Leap, { to: unknown }>['to'] | undefined,
): Leap {
  if (by !== undefined && to === undefined) return { by };
  if (to !== undefined && by === undefined) return { to };
  throw new JobqError(
    'input',
    by === undefined ? 'neither by nor to is given' : 'both by and to are given',
    'Send {"by":"5m"}, or {"to":"next-tick"}, {"to":"next-retry"} or {"to":"2026-05-01T12:00:00Z"}.',
  );
}
