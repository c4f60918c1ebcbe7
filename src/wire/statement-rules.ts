/** What is done with statements of each kind, by their first word. */
import { readCopy } from './copy-statement.js';
import { type Edit, edited, renamed, replaced, shifted } from './edits.js';
import type { Token } from './lexer.js';
import type { Report } from './messages.js';
import type { Names, Statement } from './statement.js';

/** Changes nothing, in one statement without a result, and fails in a failed transaction. */
const NOTHING = `set jobq_wire.nothing to ''`;
/** RESET SESSION AUTHORIZATION does nothing in single-user mode. */
const TO_SUPERUSER = 'set session authorization postgres';

/** Cursors of other clients, which have outlived their transactions, stay open. */
function closeAll(prefix: string): string {
  return `do $jobq$
    declare
      opened refcursor;
      all_opened text[] := array(
        select name from pg_catalog.pg_cursors
         where name <> '' and (name !~ '^jobq_c' or name ~ '^${prefix}'));
    begin
      foreach opened in array all_opened loop
        close opened;
      end loop;
    end $jobq$`;
}

export const DISCARD_ALL = 'DISCARD ALL';

export interface Look {
  statement?: Statement;
  edits?: Edit[];
  executes?: string[];
  ownSettings?: string[];
  refusal?: Report;
}

type Rule = (tokens: readonly Token[], sql: string, names: Names) => Look;

export function lookAt(tokens: readonly Token[], sql: string, names: Names): Look {
  const rule = RULES[tokens[0]!.text];
  const look = rule?.(tokens, sql, names) ?? {};
  return addCurrentOf(look, tokens, names);
}

const RULES: Record<string, Rule> = {
  prepare: (tokens, sql, names) => {
    const name = tokens[1];
    if (name === undefined || (name.kind === 'word' && name.text === 'transaction')) return {};
    const known = names.prepared(name.text);
    // A name that is taken is an error of the engine.
    const engineName = known ?? names.newPrepared(name.text);
    const edit = renamed(name, engineName);
    const text = edited(sql.slice(tokens[0]!.start, tokens.at(-1)!.end), [
      shifted(edit, -tokens[0]!.start),
    ]);
    return {
      statement: { effect: { kind: 'prepare', name: name.text, engineName, sql: text } },
      edits: [edit],
    };
  },
  execute: executeByName,
  explain: executeByName,
  create: (tokens, sql, names) =>
    tokens[1]?.text === 'database' ? { refusal: NO_DATABASES } : executeByName(tokens, sql, names),
  deallocate: (tokens, _sql, names) => {
    const name = tokens[1]?.text === 'prepare' && tokens.length > 2 ? tokens[2] : tokens[1];
    if (name === undefined) return {};
    const all = name.kind === 'word' && name.text === 'all';
    // One that the client does not have is an error of the engine.
    if (!all && names.prepared(name.text) === undefined) return {};
    return {
      statement: {
        effect: { kind: 'deallocate', name: all ? undefined : name.text },
        tag: all ? 'DEALLOCATE ALL' : 'DEALLOCATE',
      },
      edits: [replaced(tokens, NOTHING)],
    };
  },
  listen: (tokens) => {
    const channel = tokens[1];
    return channel === undefined
      ? {}
      : { statement: { effect: { kind: 'listen', channel: identifier(channel) } } };
  },
  unlisten: (tokens) => {
    const channel = tokens[1];
    if (channel === undefined) return {};
    // The engine goes on listening: others may, and what nobody wants is dropped.
    return {
      statement: {
        effect: {
          kind: 'unlisten',
          channel: channel.kind === 'sign' ? undefined : identifier(channel),
        },
        tag: 'UNLISTEN',
      },
      edits: [replaced(tokens, NOTHING)],
    };
  },
  declare: (tokens, _sql, names) => {
    const name = tokens[1];
    const words = tokens.map(({ text }) => text);
    const held = words.some((word, i) => word === 'with' && words[i + 1] === 'hold');
    // Any other ends with its transaction, and nobody else is in that.
    if (name === undefined || !held) return {};
    const engineName = names.newCursor(name.text);
    return {
      statement: { effect: { kind: 'declare', name: name.text, engineName } },
      edits: [renamed(name, engineName)],
    };
  },
  fetch: byLastWord,
  move: byLastWord,
  close: (tokens, sql, names) => {
    const name = tokens[1];
    if (name?.kind === 'word' && name.text === 'all') {
      return {
        statement: { effect: { kind: 'close', name: undefined }, tag: 'CLOSE CURSOR ALL' },
        edits: [replaced(tokens, closeAll(names.prefix))],
      };
    }
    const look = byLastWord(tokens, sql, names);
    if (name === undefined || look.edits === undefined) return look;
    return { ...look, statement: { effect: { kind: 'close', name: name.text } } };
  },
  copy: (tokens, sql) => {
    const { copyIn, refusal } = readCopy(tokens, sql);
    if (refusal !== undefined) return { refusal };
    return copyIn === undefined ? {} : { statement: { copyIn } };
  },
  reset: (tokens) => {
    if (tokens[1]?.text === 'session' && tokens[2]?.text === 'authorization') {
      return { statement: { tag: 'RESET' }, edits: [replaced(tokens, TO_SUPERUSER)] };
    }
    return { statement: { effect: { kind: 'reset' } }, ownSettings: ownSetting(tokens, 1) };
  },
  set: (tokens) => {
    const words = tokens.map(({ text }) => text);
    const at = words[1] === 'session' || words[1] === 'local' ? 2 : 1;
    if (words[at] === 'authorization' && words[at + 1] === 'default') {
      return { edits: [replaced(tokens, TO_SUPERUSER)] };
    }
    // It is over with the transaction.
    if (words[1] === 'local') return { statement: { countsAs: 'SET LOCAL' } };
    return { ownSettings: ownSetting(tokens, at) };
  },
  discard: (tokens) => {
    const what = tokens[1]?.text;
    if (what === 'temp' || what === 'temporary') {
      return {
        statement: { effect: { kind: 'discard', what: 'temp' }, tag: 'DISCARD TEMP' },
        edits: [replaced(tokens, NOTHING)],
      };
    }
    if (what === 'sequences') return { statement: { effect: { kind: 'discard', what } } };
    if (what !== 'all') return {};
    return {
      statement: { effect: { kind: 'discard', what }, tag: DISCARD_ALL },
      edits: [replaced(tokens, NOTHING)],
    };
  },
};

function executeByName(tokens: readonly Token[], _sql: string, names: Names): Look {
  const at = tokens.findIndex(({ kind, text }) => kind === 'word' && text === 'execute');
  const name = tokens[at + 1];
  if (at < 0 || name === undefined) return {};
  const engineName = names.prepared(name.text);
  if (engineName === undefined) return {};
  return { edits: [renamed(name, engineName)], executes: [name.text] };
}

/** FETCH, MOVE and CLOSE end with the cursor's name. */
function byLastWord(tokens: readonly Token[], _sql: string, names: Names): Look {
  const name = tokens.at(-1)!;
  const engineName = names.cursor(name.text);
  return engineName === undefined ? {} : { edits: [renamed(name, engineName)] };
}

/** `WHERE CURRENT OF name` */
function addCurrentOf(look: Look, tokens: readonly Token[], names: Names): Look {
  const at = tokens.findIndex(
    ({ kind, text }, i) => kind === 'word' && text === 'current' && tokens[i + 1]?.text === 'of',
  );
  const name = tokens[at + 2];
  const engineName = at < 0 || name === undefined ? undefined : names.cursor(name.text);
  if (engineName === undefined) return look;
  return { ...look, edits: [...(look.edits ?? []), renamed(name!, engineName)] };
}

function ownSetting(tokens: readonly Token[], at: number): string[] {
  if (tokens[at + 1]?.text !== '.') return [];
  const parts: string[] = [];
  for (let i = at; i < tokens.length; i += 2) {
    parts.push(tokens[i]!.text);
    if (tokens[i + 1]?.text !== '.') break;
  }
  return [parts.join('.')];
}

/** As text; the engine cuts names at 63 bytes. */
function identifier({ text }: Token): string {
  return Buffer.from(text.slice(0, 63), 'latin1').toString();
}

const NO_DATABASES: Report = {
  severity: 'ERROR',
  sqlstate: '0A000',
  message:
    'cannot create a database: jobq-dev has one, and each name that a client asks for leads to it',
  hint: 'Start jobq-dev with --database-url to work with a Postgres server.',
};
