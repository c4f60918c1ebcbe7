/** Takes secrets out of payloads, the same value always by the same replacement. */
import { createHmac } from 'node:crypto';
import { JobqError } from '../errors.js';
import { scalars } from '../json.js';
import { covers, parsePath, type Segment } from './json-path.js';

/** What `--redact` names: a place, or what matches inside of any string. */
type Rule = { text: string; used: boolean } & ({ path: Segment[] } | { pattern: RegExp });

export interface Redactor {
  /** JSON text in, JSON text out: only what a rule names is another. */
  redact(payload: string): string;
  /** How many values have been replaced. */
  readonly count: number;
  /** Rules that have not met anything, as they were given: a misspelt one leaves a secret in. */
  unused(): string[];
}

/**
 * @param rules paths (`user.email`, `$..password`) and patterns (`/[0-9]{16}/`, flags after it).
 * @param salt without it nobody can tell a value from its replacement by trying values.
 * @throws JobqError `usage`
 */
export function createRedactor(rules: readonly string[], salt: string): Redactor {
  const parsed = rules.map(parseRule);
  const digest = (text: string) => createHmac('sha256', salt).update(text).digest();
  let count = 0;
  return {
    get count() {
      return count;
    },
    unused: () => parsed.filter(({ used }) => !used).map(({ text }) => text),
    redact(payload) {
      if (parsed.length === 0) return payload;
      let out = '';
      let copied = 0;
      for (const { path, from, to } of scalars(payload)) {
        const token = payload.slice(from, to);
        const replaced = replace(parsed, path, token, digest);
        if (replaced === token) continue;
        count += 1;
        out += payload.slice(copied, from) + replaced;
        copied = to;
      }
      return out + payload.slice(copied);
    },
  };
}

type Digest = (text: string) => Buffer;

function replace(
  rules: readonly Rule[],
  path: readonly string[],
  token: string,
  digest: Digest,
): string {
  const named = rules.filter((rule) => 'path' in rule && covers(rule.path, path));
  for (const rule of named) rule.used = true;
  if (named.length > 0) return replaceScalar(token, digest);
  if (token[0] !== '"') return token;
  const text = JSON.parse(token) as string;
  let cleaned = text;
  for (const rule of rules) {
    if (!('pattern' in rule)) continue;
    cleaned = cleaned.replace(rule.pattern, (found) => {
      if (found === '') return found;
      rule.used = true;
      return mask(found, digest);
    });
  }
  return cleaned === text ? token : JSON.stringify(cleaned);
}

function parseRule(text: string): Rule {
  const [, source, flags] = /^\/(.+)\/([a-z]*)$/s.exec(text) ?? [];
  if (source === undefined) return { text, used: false, path: parsePath(text) };
  try {
    return { text, used: false, pattern: new RegExp(source, [...new Set(`${flags}g`)].join('')) };
  } catch (error) {
    throw new JobqError(
      'usage',
      `--redact ${JSON.stringify(text)} is no pattern: ${(error as Error).message}`,
      'A pattern is a JavaScript regular expression between slashes, e.g. "/[0-9]{16}/".',
    );
  }
}

/** The kind of value stays, so that a handler meets what it would: text, a number, a boolean. */
function replaceScalar(token: string, digest: Digest): string {
  if (token === 'null') return token;
  if (token === 'true' || token === 'false') return 'false';
  if (token[0] !== '"') return otherDigits(token, digest);
  return JSON.stringify(mask(JSON.parse(token) as string, digest));
}

/** An address and a URL stay one. */
function mask(text: string, digest: Digest): string {
  const name = `redacted-${digest(text).toString('hex').slice(0, 12)}`;
  if (/^[^\s@]+@[^\s@]+$/.test(text)) return `${name}@example.com`;
  return /^https?:\/\//.test(text) ? `https://example.com/${name}` : name;
}

/** As many digits as before, in the same places; a zero in front stays one, and no other comes. */
function otherDigits(number: string, digest: Digest): string {
  const [mantissa = '', exponent = ''] = number.split(/(?=[eE])/);
  const bytes = digest(number);
  let place = 0;
  const digits = mantissa.replace(/\d/g, (digit) => {
    const byte = bytes[place % bytes.length]!;
    place += 1;
    if (place > 1) return String(byte % 10);
    return digit === '0' ? digit : String(1 + (byte % 9));
  });
  return digits + exponent;
}
