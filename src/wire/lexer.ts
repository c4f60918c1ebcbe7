/**
 * Words of SQL: enough to see where statements end and what each begins with. It knows every form of
 * quoting and comment, and no grammar. Texts have one character a byte.
 * Source: https://www.postgresql.org/docs/current/sql-syntax-lexical.html
 */

export interface Token {
  /** A bare word, in lower case; a quoted identifier, unquoted; a string or any other sign, as it is. */
  text: string;
  kind: 'word' | 'quoted' | 'string' | 'sign';
  start: number;
  end: number;
}

const SPACE = /(?:\s|--[^\n\r]*)+/y;
const WORD = /[A-Za-z_\x80-\xff][\w$\x80-\xff]*/y;
const NUMBER = /\$?\d[\w.]*/y;
const DOLLAR = /\$(?:[A-Za-z_\x80-\xff][\w\x80-\xff]*)?\$/y;

export function* tokens(sql: string): Generator<Token> {
  let start = 0;
  const match = (pattern: RegExp, at = start): number => {
    pattern.lastIndex = at;
    return pattern.test(sql) ? pattern.lastIndex : -1;
  };
  while (start < sql.length) {
    const skipped = sql.startsWith('/*', start) ? afterComment(sql, start + 2) : match(SPACE);
    if (skipped > 0) {
      start = skipped;
      continue;
    }
    const word = match(WORD);
    const opening = word > 0 && word - start <= 2 ? prefixed(sql, start, word) : start;
    const quote = sql[opening];
    let end: number;
    let kind: Token['kind'];
    if (quote === "'" && opening >= start) {
      end = afterQuote(sql, opening, "'", /^e$/i.test(sql.slice(start, opening)));
      kind = 'string';
    } else if (quote === '"' && opening >= start) {
      end = afterQuote(sql, opening, '"', false);
      kind = 'quoted';
    } else if (word > 0) {
      end = word;
      kind = 'word';
    } else if (quote === '$' && match(DOLLAR) > 0) {
      end = afterDollar(sql, start, match(DOLLAR));
      kind = 'string';
    } else {
      const number = match(NUMBER);
      end = number > 0 ? number : start + 1;
      kind = 'sign';
    }
    const text = sql.slice(start, end);
    yield { text: kind === 'word' ? folded(text) : unquoted(text), kind, start, end };
    start = end;
  }
}

/** Where the quote of `E'…'`, `U&"…"` and the like opens; -1 when a plain word stands here. */
function prefixed(sql: string, start: number, word: number): number {
  const prefix = sql.slice(start, word).toLowerCase();
  if (sql[word] === "'" && /^[ebxn]$/.test(prefix)) return word;
  if (prefix === 'u' && sql[word] === '&' && /['"]/.test(sql[word + 1] ?? '')) return word + 1;
  return -1;
}

/** @param open where the quote stands. An unclosed one goes on to the end. */
function afterQuote(sql: string, open: number, quote: string, escapes: boolean): number {
  let at = open + 1;
  for (;;) {
    const close = sql.indexOf(quote, at);
    if (close < 0) return sql.length;
    let backslashes = 0;
    if (escapes) while (sql[close - 1 - backslashes] === '\\') backslashes += 1;
    if (backslashes % 2 === 1) at = close + 1;
    else if (sql[close + 1] === quote) at = close + 2;
    else return close + 1;
  }
}

function afterDollar(sql: string, start: number, opened: number): number {
  const tag = sql.slice(start, opened);
  const close = sql.indexOf(tag, opened);
  return close < 0 ? sql.length : close + tag.length;
}

/** Comments nest. @param at after the first opening. */
function afterComment(sql: string, at: number): number {
  const border = /\/\*|\*\//g;
  border.lastIndex = at;
  for (let depth = 1; depth > 0; ) {
    const found = border.exec(sql);
    if (found === null) return sql.length;
    depth += found[0] === '/*' ? 1 : -1;
  }
  return border.lastIndex;
}

/** As the server does it: what is not ASCII may be a part of a character. */
function folded(word: string): string {
  return word.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** A name with escapes, `U&"…"`, stays as it is written: it is compared with nothing else. */
function unquoted(text: string): string {
  return text.startsWith('"') ? text.slice(1, -1).replaceAll('""', '"') : text;
}

/** The tokens of each statement that is not empty, without its semicolon. */
export function statements(sql: string): Token[][] {
  const found: Token[][] = [];
  let current: Token[] = [];
  let parens = 0;
  let blocks = 0;
  for (const token of tokens(sql)) {
    if (token.kind === 'sign') {
      if (token.text === '(') parens += 1;
      else if (token.text === ')') parens = Math.max(0, parens - 1);
      else if (token.text === ';' && parens === 0 && blocks === 0) {
        if (current.length > 0) found.push(current);
        current = [];
        continue;
      }
    } else if (token.kind === 'word' && parens === 0) {
      blocks = Math.max(0, blocks + blockStep(current, token.text, blocks));
    }
    current.push(token);
  }
  if (current.length > 0) found.push(current);
  return found;
}

/** The body of a routine between BEGIN ATOMIC and END holds semicolons; CASE has an END as well. */
function blockStep(before: readonly Token[], word: string, blocks: number): number {
  if (before[0]?.text !== 'create') return 0;
  if (word === 'atomic' && before.at(-1)!.text === 'begin') return 1;
  if (blocks === 0) return 0;
  if (word === 'case') return 1;
  return word === 'end' ? -1 : 0;
}
