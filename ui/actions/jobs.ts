/** Keys that act on one job. */
import { checkJson, JsonFault } from '../../src/json.js';
import type { State } from '../store/state.js';
import { figure } from '../text/figures.js';
import { plain } from '../text/plain.js';
import type { Ui } from '../ui.js';
import { askText, confirm } from './ask.js';
import { perform, say } from './perform.js';
import { selectedJob, selectedLine } from './selected.js';

/** Does something with the selected job; says so when there is none. */
export function withSelected(ui: Ui, work: (id: string) => void): void {
  const id = selectedJob(ui.store.snapshot());
  if (id === undefined) say(ui, { tone: 'info', text: 'no job is selected' });
  else work(id);
}

/** `r`: a dead job from its first attempt again; one that waits for a retry, now. */
export function retry(ui: Ui): void {
  withSelected(ui, (id) => {
    void perform(ui, async () => {
      const { status } = await ui.emulator.job(id);
      if (status !== 'pending') {
        await ui.emulator.retry(id);
        return `job ${id} is pending again, with all its attempts`;
      }
      await ui.emulator.edit(id, { run_after: emulatorNow(ui.store.state).toISOString() });
      return `job ${id} is due now`;
    });
  });
}

function emulatorNow({ skewMs }: State): Date {
  return new Date(Date.now() + skewMs);
}

/** `R`: all dead jobs of the selected job's kind, or of every kind. */
export function retryAll(ui: Ui): void {
  const state = ui.store.snapshot();
  const kind = selectedLine(state)?.kind;
  const dead = state.overview?.stats.counts.dead ?? 0;
  if (dead === 0) {
    say(ui, { tone: 'info', text: 'no job is dead' });
    return;
  }
  const question =
    kind === undefined
      ? `retry all ${figure(dead)} dead jobs?`
      : `retry every dead job of kind ${plain(kind)}?`;
  confirm(ui, question, () => {
    void perform(ui, async () => {
      const count = await ui.emulator.retryAll(kind);
      return count === 1
        ? '1 dead job is pending again'
        : `${figure(count)} dead jobs are pending again`;
    });
  });
}

/** `x`: makes a job dead; asks before it kills one that runs. */
export function cancel(ui: Ui): void {
  withSelected(ui, (id) => {
    const run = () => {
      void perform(ui, async () => {
        await ui.emulator.cancel(id);
        return `job ${id} is cancelled: it is dead now, r retries it`;
      });
    };
    const running = selectedLine(ui.store.snapshot())?.status === 'running';
    if (running) confirm(ui, `kill the running attempt of job ${id}?`, run);
    else run();
  });
}

/** `n`: a new job. */
export function newJob(ui: Ui): void {
  const { overview } = ui.store.state;
  askText(ui, {
    label: 'new job',
    placeholder: 'kind, then its payload: hello {"name":"Ada"}',
    completions: overview?.handler_kinds ?? [],
    submit: (value) => {
      const [, kind = '', payload = ''] = /^\s*(\S+)\s*([\s\S]*?)\s*$/.exec(value) ?? [];
      if (kind === '') return 'say which kind';
      const text = payload === '' ? '{}' : payload;
      const fault = jsonFault(text);
      if (fault !== undefined) return `the payload is no JSON: ${fault}`;
      void perform(ui, async () => {
        const id = await ui.emulator.enqueue({ kind, payload: text });
        return `job ${id} ${plain(kind)} is in the table; the next tick claims it, d runs it now`;
      });
      return undefined;
    },
  });
}

/** What is wrong with JSON text; undefined: nothing. */
export function jsonFault(text: string): string | undefined {
  try {
    checkJson(text);
    return undefined;
  } catch (error) {
    if (!(error instanceof JsonFault)) throw error;
    return error.message;
  }
}
