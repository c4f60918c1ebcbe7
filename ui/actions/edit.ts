import { prettyJson } from '../text/pretty-json.js';
import type { Ui } from '../ui.js';
import { askChoice, confirm } from './ask.js';
import { jsonFault, withSelected } from './jobs.js';
import { perform } from './perform.js';

/**
 * `e`: the payload in the user's editor. A pending job is changed; of one that is over a copy runs.
 * The text is never parsed and printed again, so every digit stays.
 */
export function edit(ui: Ui): void {
  withSelected(ui, (id) => {
    void perform(ui, async () => {
      const job = await ui.emulator.job(id);
      const before = `${prettyJson(job.payload)}\n`;
      return revise(ui, id, before, before, job.status);
    });
  });
}

async function revise(
  ui: Ui,
  id: string,
  before: string,
  text: string,
  status: string,
): Promise<string | undefined> {
  const edited = await ui.host.edit(text);
  const fault = jsonFault(edited);
  if (fault !== undefined) {
    askChoice(ui, `no JSON: ${fault}`, [
      {
        key: 'e',
        label: 'edit again',
        run: () => void perform(ui, () => revise(ui, id, before, edited, status)),
      },
      { key: 'f', label: 'forget it', run: () => {} },
    ]);
    return undefined;
  }
  if (edited.trim() !== before.trim()) return apply(ui, id, edited);
  if (status === 'pending') return 'nothing was changed';
  confirm(ui, `nothing was changed; run a copy of job ${id} all the same?`, () => {
    void perform(ui, () => apply(ui, id, edited));
  });
  return undefined;
}

async function apply(ui: Ui, id: string, payload: string): Promise<string> {
  const result = await ui.emulator.edit(id, { payload: payload.trim() });
  return result === id
    ? `job ${id} is changed`
    : `job ${id} is over and keeps its history; job ${result} is its edited copy`;
}
