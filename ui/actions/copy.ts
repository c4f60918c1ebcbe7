import { plain } from '../text/plain.js';
import { shellQuote } from '../text/shell-quote.js';
import type { Ui } from '../ui.js';
import { withSelected } from './jobs.js';
import { perform } from './perform.js';

/** What the table gives a job that does not say. */
const DEFAULT_MAX_ATTEMPTS = 3;

/** `c`: the command that inserts the selected job again, into the clipboard and onto the screen. */
export function copy(ui: Ui): void {
  withSelected(ui, (id) => {
    void perform(ui, async () => {
      const { kind, payload, max_attempts } = await ui.emulator.job(id);
      const words = ['npx', 'jobq-dev', 'enqueue', kind, payload].map(shellQuote);
      if (max_attempts !== DEFAULT_MAX_ATTEMPTS) words.push('--max-attempts', `${max_attempts}`);
      const command = words.join(' ');
      ui.host.copy(command);
      ui.store.update(
        (state) => ({ ...state, sheet: { title: 'copied', text: plain(command) } }),
        'now',
      );
      return undefined;
    });
  });
}
