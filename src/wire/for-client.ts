import { SAID } from '../db/session-functions.js';
import type { Listeners } from './answer.js';
import type { Client } from './client.js';
import { errorResponse } from './messages.js';
import { lockedInTransaction } from './reports.js';

/** What a client gets of the engine's answers, and what it reads instead of the rest. */
export class ForClient implements Listeners {
  /** What runs now may reset settings. */
  resets = false;

  constructor(private readonly client: Client) {}

  notice(fields: Map<string, string>): boolean {
    const code = fields.get('C') ?? '';
    if (!code.startsWith('JQ')) return true;
    this.client.said(code, fields.get('M') ?? '');
    return false;
  }

  notification(body: Buffer): Buffer | undefined {
    return this.client.notified(body);
  }

  parameter(name: string, value: string): boolean {
    // What a client has begun with comes back in a moment (see effects.ts).
    if (this.resets && this.client.state.initial.has(name.toLowerCase())) return false;
    return this.client.reported(name, value);
  }

  nameOf(engineName: string): string {
    return this.client.names.clientName(engineName);
  }

  error(sqlstate: string, message: string): Buffer | undefined {
    return sqlstate === SAID.held ? errorResponse(lockedInTransaction(message)) : undefined;
  }
}

/** Nobody gets anything. */
export const SILENT: Listeners = {
  notice: () => false,
  notification: () => undefined,
  parameter: () => false,
  nameOf: (name) => name,
};
