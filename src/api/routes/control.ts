/** What steers the emulator. */
import type { Context, Hono } from 'hono';
import { JobqError } from '../../errors.js';
import { json } from '../answer.js';
import { AdvanceBody, ReplayBody, SandboxBody } from '../contract.js';
import type { Leap } from '../control.js';
import { check, readObject } from '../input.js';
import type { Service } from '../service.js';

export function controlRoutes(app: Hono, service: Service): void {
  app.post('/drain', async (context) => json(context, await service.drain()));
  app.post('/advance', async (context) => {
    const { by, to } = check(AdvanceBody, await body(context));
    return json(context, await service.control.advance(readLeap(by, to)));
  });
  app.post('/pause', (context) => {
    service.control.pause();
    return json(context, { paused: true });
  });
  app.post('/resume', (context) => {
    service.control.resume();
    return json(context, { paused: false });
  });
  app.post('/sandbox', async (context) => {
    const { provider } = check(SandboxBody, await body(context));
    return json(context, await service.control.useSandbox(provider));
  });
  app.post('/replay', async (context) => {
    const { path, speed } = check(ReplayBody, await body(context));
    return json(context, await service.control.replay(path, speed));
  });
  app.post('/examples', async (context) => json(context, await service.control.copyExamples()));
}

async function body(context: Context): Promise<Record<string, unknown>> {
  return readObject(await context.req.text()).values;
}

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
