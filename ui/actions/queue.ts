/** Keys that act on the queue as a whole. */
import { compactDuration, parseDuration } from '../../src/job/duration.js';
import { plural } from '../../src/job/text.js';
import { figure } from '../text/figures.js';
import { plain } from '../text/plain.js';
import type { Ui } from '../ui.js';
import { askChoice, askText } from './ask.js';
import { perform, say } from './perform.js';

/** `d`: one tick by hand. */
export function drain(ui: Ui): void {
  say(ui, { tone: 'info', text: 'draining: what is due is claimed and run' });
  void perform(ui, async () => {
    const counts = Object.entries(await ui.emulator.drain()).filter(([, count]) => count > 0);
    if (counts.length === 0) return 'nothing was due';
    return `drained: ${counts.map(([what, count]) => `${figure(count)} ${what}`).join(', ')}`;
  });
}

/** `f`: moves the clock. */
export function fastForward(ui: Ui): void {
  askText(ui, {
    label: 'fast-forward',
    placeholder: 't next tick, r next retry, or a time: 5m, 2h30m, 2026-03-01T09:00Z',
    shortcuts: { t: 'next-tick', r: 'next-retry' },
    submit: (value) => {
      const to = destination(value.trim());
      if (to === undefined) return 'say 5m, 2h30m, a time in ISO 8601, or t or r';
      void perform(ui, async () => {
        const { offset_ms, ticks } = await ui.emulator.advance(to);
        const ticked = ticks > 0 ? 'a tick fires now' : 'no tick lies between';
        return `the clock is ${compactDuration(offset_ms)} ahead; ${ticked}`;
      });
      return undefined;
    },
  });
}

function destination(value: string): { by: string } | { to: string } | undefined {
  if (value === 'next-tick' || value === 'next-retry') return { to: value };
  if (parseDuration(value) !== undefined) return { by: value };
  return /^\d{4}-/.test(value) && !Number.isNaN(Date.parse(value)) ? { to: value } : undefined;
}

/** `p`: stops the claiming, or lets it go on. */
export function pause(ui: Ui): void {
  const paused = ui.store.state.overview?.info.cron.paused === true;
  void perform(ui, async () => {
    await ui.emulator.pause(!paused);
    return paused ? 'the drainer goes on' : 'paused: no tick fires; d still drains, p goes on';
  });
}

/** `s`: another sandbox from the next attempt on. */
export function swapSandbox(ui: Ui): void {
  const swap = (provider: string) => () =>
    void perform(ui, async () => {
      const { description } = await ui.emulator.swapSandbox(provider);
      return `from the next attempt on: ${plain(description)}`;
    });
  askChoice(ui, 'sandbox', [
    { key: 'a', label: 'auto', run: swap('auto') },
    { key: 'p', label: 'process', run: swap('process') },
    { key: 'q', label: 'qemu', run: swap('qemu') },
    { key: 'h', label: 'pandastack (hosted)', run: swap('pandastack') },
  ]);
}

/** `b`: a fixture, in real time. */
export function replay(ui: Ui): void {
  askText(ui, {
    label: 'replay',
    placeholder: 'fixtures/burst.jsonl, and a speed if it is not 1: burst.jsonl 10',
    submit: (value) => {
      const [, path = '', speed] = /^\s*(.*?)(?:\s+(\d+(?:\.\d+)?)x?)?\s*$/.exec(value)!;
      if (path === '') return 'say which file';
      void perform(ui, async () => {
        const { jobs } = await ui.emulator.replay(
          path,
          speed === undefined ? undefined : Number(speed),
        );
        return `replaying ${plural(jobs, 'job')} of ${plain(path)}`;
      });
      return undefined;
    },
  });
}

/** `i`: the example handlers. */
export function createExamples(ui: Ui): void {
  void perform(ui, async () => {
    const { dir, created } = await ui.emulator.createExamples();
    return created.length === 0
      ? `nothing was created: ${plain(dir)} has them all`
      : `created ${created.map(plain).join(', ')} in ${plain(dir)}; n runs one`;
  });
}
