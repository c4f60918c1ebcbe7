import { type Edit, edited } from './edits.js';
import { statements } from './lexer.js';
import type { Analysis, Names, Statement } from './statement.js';
import { DISCARD_ALL, lookAt } from './statement-rules.js';

/** Without any of these words, no statement is looked at; SET counts where one may begin. */
const WORTH_A_LOOK =
  /\b(?:prepare|execute|deallocate|discard|listen|unlisten|declare|fetch|move|close|current|copy|reset|database)\b|(?:^|;|\*\/|--[^\n]*\n)\s*set\b/i;
const IDENTITY = /backend_pid|advisory|_backend\b/i;
const SEQUENCES = /\b(?:lastval|currval)\b/i;
const TEMPORARY = /\btemp(?:orary)?\b|\bpg_temp/i;
const TIMEOUTS = /_timeout\b/i;

const NO_STATEMENTS: readonly Statement[] = [];

export function analyse(sql: string, names: Names): Analysis {
  const analysis = {
    sql,
    statements: NO_STATEMENTS,
    discardsAll: false,
    executes: [] as string[],
    identity: IDENTITY.test(sql),
    sequences: SEQUENCES.test(sql),
    temporary: TEMPORARY.test(sql),
    timeouts: TIMEOUTS.test(sql),
    ownSettings: [] as string[],
  };
  if (!WORTH_A_LOOK.test(sql)) return analysis;
  const edits: Edit[] = [];
  const found: Statement[] = [];
  for (const tokens of statements(sql)) {
    const look = lookAt(tokens, sql, names);
    if (look.refusal !== undefined) return { ...analysis, refusal: look.refusal };
    found.push(look.statement ?? {});
    edits.push(...(look.edits ?? []));
    analysis.executes.push(...(look.executes ?? []));
    analysis.ownSettings.push(...(look.ownSettings ?? []));
  }
  const discardsAll = found.some(({ tag }) => tag === DISCARD_ALL);
  return { ...analysis, sql: edited(sql, edits), statements: found, discardsAll };
}
