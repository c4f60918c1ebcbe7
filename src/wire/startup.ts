/** The first packet of a connection, which has no type: a client, a cancel request, or a question. */
import { readText } from './frames.js';

export type Startup =
  /** Answered with `N`; the next packet follows. */
  | { kind: 'encryption' }
  | { kind: 'cancel'; pid: number; secret: number }
  | {
      kind: 'client';
      user: string;
      /** Settings to start with, of the packet itself and of its `options`. */
      settings: Map<string, string>;
      /** Extensions of the protocol that were asked for and are not spoken here. */
      unknownOptions: string[];
      minor: number;
    };

/** What ends a connection before it has begun: FATAL, with this SQLSTATE. */
export class StartupRefused extends Error {
  constructor(
    message: string,
    readonly sqlstate: string,
    readonly hint?: string,
  ) {
    super(message);
  }
}

const CANCEL = 80877102;
const SSL = 80877103;
const GSS = 80877104;
/** Postgres' own limit. */
const LARGEST_BYTES = 10_000;

/**
 * @returns undefined when the packet is not whole yet; otherwise it, and what follows it.
 * @throws StartupRefused
 */
export function readStartup(bytes: Buffer): { startup: Startup; rest: Buffer } | undefined {
  if (bytes.length < 4) return undefined;
  const length = bytes.readInt32BE(0);
  if (length < 8 || length > LARGEST_BYTES) {
    throw new StartupRefused('invalid length of startup packet', '08P01');
  }
  if (bytes.length < length) return undefined;
  return { startup: parse(bytes.subarray(4, length)), rest: bytes.subarray(length) };
}

function parse(body: Buffer): Startup {
  const code = body.readInt32BE(0);
  if (code === SSL || code === GSS) return { kind: 'encryption' };
  if (code === CANCEL) {
    if (body.length !== 12) throw new StartupRefused('invalid length of cancel request', '08P01');
    return { kind: 'cancel', pid: body.readInt32BE(4), secret: body.readInt32BE(8) };
  }
  const major = code >>> 16;
  const minor = code & 0xffff;
  if (major !== 3) {
    throw new StartupRefused(
      `unsupported frontend protocol ${major}.${minor}: server supports 3.0 to 3.0`,
      '0A000',
    );
  }
  return client(parameters(body.subarray(4)), minor);
}

function parameters(body: Buffer): Map<string, string> {
  const found = new Map<string, string>();
  let at = 0;
  while (body[at] !== 0) {
    const name = readText(body, at);
    const value = name && readText(body, name.end);
    if (value === undefined) throw malformed();
    found.set(name!.text, value.text);
    at = value.end;
  }
  if (at !== body.length - 1) throw malformed();
  return found;
}

function malformed(): StartupRefused {
  return new StartupRefused(
    'invalid startup packet layout: expected terminator as last byte',
    '08P01',
  );
}

function client(given: Map<string, string>, minor: number): Startup {
  const settings = new Map<string, string>();
  const unknownOptions: string[] = [];
  let options = '';
  for (const [name, value] of given) {
    if (name === 'user' || name === 'database') continue;
    if (name === 'options') options = value;
    else if (name === 'replication') refuseReplication(value);
    else if (name.startsWith('_pq_.')) unknownOptions.push(name);
    else settings.set(name.toLowerCase(), value);
  }
  const user = given.get('user');
  if (!user) {
    throw new StartupRefused('no PostgreSQL user name specified in startup packet', '28000');
  }
  // What the packet says itself comes last, as in a server.
  const all = new Map(
    [...commandLine(options), ...settings].map(([name, value]) => [name, decoded(value)]),
  );
  // What it is anyway; drivers write it in several ways.
  if (/^'?utf-?8'?$/i.test(all.get('client_encoding') ?? '')) all.delete('client_encoding');
  return { kind: 'client', user: decoded(user), settings: all, unknownOptions, minor };
}

function decoded(bytes: string): string {
  return Buffer.from(bytes, 'latin1').toString();
}

function refuseReplication(value: string): void {
  if (/^(false|off|no|0)$/i.test(value)) return;
  throw new StartupRefused(
    'replication is not there: the database is one PGlite session',
    '0A000',
    'Start jobq-dev with --database-url to work with a Postgres server.',
  );
}

/** `-c name=value`, `-cname=value` and `--name=value`; a backslash keeps a space. */
function commandLine(options: string): Map<string, string> {
  const words = (options.match(/(?:\\.|[^\s\\])+/gs) ?? []).map((word) =>
    word.replace(/\\(.)/gs, '$1'),
  );
  const found = new Map<string, string>();
  for (let i = 0; i < words.length; i += 1) {
    const word = words[i]!;
    let assignment: string | undefined;
    if (word === '-c') assignment = words[++i];
    else if (word.startsWith('--') || word.startsWith('-c')) assignment = word.slice(2);
    const [, name, value] = /^([^=]+)=(.*)$/s.exec(assignment ?? '') ?? [];
    if (name === undefined) {
      throw new StartupRefused(
        `invalid command-line argument for server process: ${word}`,
        '42601',
      );
    }
    found.set(name.replaceAll('-', '_').toLowerCase(), value!);
  }
  return found;
}
