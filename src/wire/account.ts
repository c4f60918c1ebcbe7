import type { Answer } from './answer.js';
import type { Client } from './client.js';
import { CHANGES_FUNCTIONS } from './functions-watch.js';
import type { Status } from './messages.js';
import type { Translation } from './translate.js';

/** Commands after which a transaction can be begun anew and nobody notices. */
const REPEATABLE = /^(?:BEGIN|START TRANSACTION|SET|SET LOCAL|SAVEPOINT|RELEASE)$/;
const WRITES = /^(?:INSERT|UPDATE|DELETE|MERGE|COPY|CALL|DO)/;
const WRITES_IN_SELECT = /\b(?:insert|update|delete|merge|nextval|setval)\b/i;
const OF_TRANSACTIONS = /^(?:BEGIN|COMMIT|ROLLBACK)$/;

/** What a turn has done so far that has to be seen to later. */
export class Account {
  /** Texts of the transaction under way, while all of it could still be repeated. */
  log: string[] | undefined = [];
  wrote = false;
  functionsChanged = false;
  timeoutsMentioned = false;

  constructor(private readonly client: Client) {}

  /** @param status of the transaction; undefined in a pipeline. */
  note(answer: Answer, { analyses, sql }: Translation, status: Status | undefined): void {
    const { state, shared, subscriptions } = this.client;
    const { tags } = answer;
    const any = (pattern: RegExp) => tags.some((tag) => pattern.test(tag));
    if (any(/^(?:SET|RESET)$/)) state.dirty = true;
    const hidden = shared.hidden.session && tags.some((tag) => !OF_TRANSACTIONS.test(tag));
    if (hidden || tags.includes('DO')) {
      state.dirty = true;
      state.temporary = true;
    }
    if (this.client.timeoutsSaid) this.timeoutsMentioned = true;
    this.client.timeoutsSaid = false;
    if (any(/^RESET|^DISCARD ALL/) && this.client.beginsWithTimeouts) this.timeoutsMentioned = true;
    for (const analysis of analyses) {
      if (analysis.temporary) state.temporary = true;
      if (analysis.timeouts) this.timeoutsMentioned = true;
      for (const name of analysis.ownSettings) state.ownSettings.add(name);
    }
    const selectWrote =
      any(/^SELECT/) &&
      (shared.hidden.functions || analyses.some(({ sql }) => WRITES_IN_SELECT.test(sql)));
    if (any(WRITES) || selectWrote) {
      this.wrote = true;
      state.wrote = true;
      state.sequencesLost = false;
    }
    if (any(CHANGES_FUNCTIONS)) this.functionsChanged = true;
    const repeatable =
      sql !== undefined && answer.error === undefined && tags.every((tag) => REPEATABLE.test(tag));
    if (status === 'I') this.log = [];
    else if (repeatable && this.log !== undefined) this.log.push(...sql);
    else this.log = undefined;
    if (status === 'I') {
      subscriptions.settle(answer.error === undefined && !tags.includes('ROLLBACK'));
    }
  }
}
