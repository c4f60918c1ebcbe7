import { chmodSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  findHandler,
  type Handler,
  type Interpreters,
  knownKinds,
  type NoHandler,
} from '#src/drain/handler.js';
import { tempDir } from '../support/temp-dir.js';

let root: string;
/** The handlers directory, `handlers` in a project. */
let dir: string;

beforeEach(() => {
  root = realpathSync(tempDir());
  dir = path.join(root, 'handlers');
  mkdirSync(dir);
});

/** Makes files under the handlers directory; a name that ends in `*` is executable. */
function make(...names: string[]): void {
  for (const name of names) {
    const file = path.join(dir, name.replace(/\*$/, ''));
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, '#!/bin/sh\n');
    if (name.endsWith('*')) chmodSync(file, 0o755);
  }
}

const find = (kind: string, overrides?: Interpreters) => findHandler(dir, kind, overrides);

async function found(kind: string, overrides?: Interpreters): Promise<Handler> {
  const handler = await find(kind, overrides);
  if ('reason' in handler) throw new Error(handler.reason);
  expect(handler.dir).toBe(dir);
  return handler;
}

async function missed(kind: string, overrides?: Interpreters): Promise<NoHandler> {
  const handler = await find(kind, overrides);
  if (!('reason' in handler)) throw new Error(`it was found: ${handler.script}`);
  expect(handler.reason).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Cs}]/u);
  return handler;
}

describe('a kind', () => {
  it.each([
    ['resize', 'resize.py', ['python3']],
    ['resize', 'resize.js', ['node']],
    ['resize', 'resize.mjs', ['node']],
    ['resize', 'resize.cjs', ['node']],
    ['resize', 'resize.sh', ['sh']],
    ['resize', 'resize.rb', ['ruby']],
    ['resize', 'resize.php', ['php']],
    ['resize', 'resize.pl', ['perl']],
    ['resize', 'resize*', []],
    ['mail/send', 'mail/send.py', ['python3']],
    ['a/b/c', 'a/b/c*', []],
    ['order.created', 'order.created.sh', ['sh']],
    ['order.created', 'order.created*', []],
    ['resize.py', 'resize.py*', []],
    ['with space', 'with space.py', ['python3']],
    ['支払い', '支払い.py', ['python3']],
    ['café-🦀', 'café-🦀.py', ['python3']],
    ['$(touch x);`y`', '$(touch x);`y`.sh', ['sh']],
    ['-rf', '-rf.sh', ['sh']],
    ['constructor', 'constructor.py', ['python3']],
  ])('%j finds %s, run with %j', async (kind, file, interpreter) => {
    make(file);
    expect(await found(kind)).toMatchObject({ script: file.replace('*', ''), interpreter });
  });

  it('takes the first extension of the table when several files stand there', async () => {
    make('resize.sh', 'resize*', 'resize.mjs');
    expect((await found('resize')).script).toBe('resize.mjs');
    make('resize.py');
    expect((await found('resize')).script).toBe('resize.py');
  });

  it('passes over a directory that has the name of a script', async () => {
    mkdirSync(path.join(dir, 'resize.py'));
    mkdirSync(path.join(dir, 'mail'));
    make('resize.sh');
    expect((await found('resize')).script).toBe('resize.sh');
    expect((await missed('mail')).exitCode).toBe(127);
  });

  it('follows links that stay inside', async () => {
    make('real.py', 'folder/x.sh');
    symlinkSync('real.py', path.join(dir, 'alias.py'));
    symlinkSync('folder', path.join(dir, 'other'));
    expect((await found('alias')).script).toBe('alias.py');
    expect((await found('other/x')).script).toBe('other/x.sh');
  });

  it('is found when the handlers directory is a link itself', async () => {
    make('resize.py');
    symlinkSync(dir, path.join(root, 'link'));
    expect(await findHandler(path.join(root, 'link'), 'resize')).toEqual(await found('resize'));
  });
});

describe('a kind that names nothing inside the handlers directory', () => {
  it.each([
    '../x',
    '..',
    '.',
    './x',
    '/etc/passwd',
    '//x',
    'a/../../x',
    'a/./x',
    'a//x',
    'x/',
    '/',
    '',
    '.hidden',
    'a/.hidden',
    '.venv/bin/python3',
    'node_modules/x',
    'a/node_modules/x',
    'x\0',
    'x\0.py',
    'a\\x',
    '..\\x',
  ])('is refused: %j', async (kind) => {
    make(
      'x.py',
      'a/x.py',
      '.hidden.py',
      'a/.hidden.py',
      'node_modules/x.py',
      'a/node_modules/x.py',
    );
    writeFileSync(path.join(root, 'x.py'), '');
    const { exitCode, reason } = await missed(kind);
    expect(exitCode).toBe(127);
    expect(reason).toMatch(
      /^the kind ".*" cannot name a handler: each part between slashes must be a file name$/,
    );
  });

  it('never leads outside, whatever the kind', async () => {
    make('x.py', 'a/x.py');
    writeFileSync(path.join(root, 'x.py'), '');
    const part = fc.constantFrom(
      '..',
      '.',
      '',
      'a',
      'x',
      'handlers',
      '\\',
      '\0',
      '~',
      '%2e%2e',
      '*',
    );
    const kind = fc.array(part, { maxLength: 6 }).map((parts) => parts.join('/'));
    await fc.assert(
      fc.asyncProperty(fc.oneof(kind, fc.string({ unit: 'binary' })), async (name) => {
        const handler = await find(name);
        if ('reason' in handler) {
          expect(handler.reason).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u);
          return;
        }
        expect(['x.py', 'a/x.py']).toContain(handler.script);
      }),
      { numRuns: 300 },
    );
  });

  it.each([
    ['a file', 'out.py', '../out.py'],
    ['a file by its absolute path', 'out.py', undefined],
    ['a folder', 'linked', '..'],
    ['a sibling whose name starts as the directory’s does', 'out.py', '../handlers-old/out.py'],
  ])('is refused when it is a link to %s outside', async (_what, name, target) => {
    mkdirSync(path.join(root, 'handlers-old'));
    for (const file of ['out.py', 'handlers-old/out.py']) writeFileSync(path.join(root, file), '');
    symlinkSync(target ?? path.join(root, 'out.py'), path.join(dir, name));
    const kind = name === 'linked' ? 'linked/out' : 'out';
    const { exitCode, reason } = await missed(kind);
    expect(exitCode).toBe(126);
    expect(reason).toMatch(/^\S+\.py is a link to \S+, which is outside the handlers directory$/);
  });

  it('is not found when it is a link to nothing, or to itself', async () => {
    symlinkSync('nowhere.py', path.join(dir, 'broken.py'));
    symlinkSync('loop.py', path.join(dir, 'loop.py'));
    for (const kind of ['broken', 'loop']) expect((await missed(kind)).exitCode).toBe(127);
  });

  it('is not found when it is too long for a file name, and the message stays short', async () => {
    for (const kind of ['x'.repeat(300), '🦀'.repeat(100_000), `${'a/'.repeat(5_000)}a`]) {
      const { exitCode, reason } = await missed(kind);
      expect(exitCode).toBe(127);
      expect(reason.length).toBeLessThan(1_500);
      expect(reason.startsWith('no handler for kind "')).toBe(true);
    }
  });
});

describe('the message for a kind without a handler', () => {
  it('says which files were looked for, and where', async () => {
    const { exitCode, reason } = await missed('resize', { '.lua': ['lua'] });
    expect(exitCode).toBe(127);
    expect(reason).toBe(
      `no handler for kind "resize"; looked for resize{.py,.js,.mjs,.cjs,.ts,.mts,.sh,.rb,.php,.pl,.lua} and an executable resize in ${dir}`,
    );
  });

  it.each([
    ['rezise', 'resize'],
    ['mail/sent', 'mail/send'],
    ['resize.py', 'resize'],
    ['mv.py', 'mv'],
    ['Resize', 'resize'],
    ['archiv', 'archive'],
  ])('for %j suggests %j', async (kind, near) => {
    make(
      'resize.py',
      'mv.py',
      'mail/send.sh',
      'archive*',
      '.git/resise.py',
      'node_modules/rezize/x.js',
    );
    expect((await missed(kind)).reason).toContain(`did you mean ${JSON.stringify(near)}?`);
  });

  it('suggests nothing that is far', async () => {
    make('resize.py');
    expect((await missed('charge')).reason).not.toContain('did you mean');
  });

  it.each([
    ['a newline', 'a\nb', 'a\\nb'],
    ['a control sequence', '\x1b[2J\x07', '\\x1b[2J\\x07'],
    ['a bidi override', 'x\u202egnp', 'x\\u202egnp'],
  ])('shows %s as an escape', async (_what, kind, shown) => {
    expect((await missed(kind)).reason).toContain(`no handler for kind "${shown}"`);
    expect((await missed(`../${kind}`)).reason).toContain(`the kind "../${shown}" cannot`);
  });

  it('says so when the directory is not there', async () => {
    const nowhere = path.join(root, 'nowhere');
    expect(await findHandler(nowhere, 'x')).toEqual({
      exitCode: 127,
      reason: `the handlers directory ${nowhere} does not exist; jobq-dev init makes one with examples`,
    });
  });
});

describe('a file without extension', () => {
  it('must be executable', async () => {
    make('resize');
    const { exitCode, reason } = await missed('resize');
    expect(exitCode).toBe(126);
    expect(reason).toMatch(/^resize is not executable, .*chmod \+x/);
    make('resize*');
    expect(await found('resize')).toMatchObject({ script: 'resize', interpreter: [] });
  });

  it('is also what an extension that names no interpreter makes', async () => {
    make('notes.md');
    expect((await missed('notes.md')).exitCode).toBe(126);
    expect((await missed('notes')).exitCode).toBe(127);
  });
});

describe('interpreters of the configuration', () => {
  it('override the table, and add to it', async () => {
    make('a.py', 'b.lua', 'c.sh');
    const overrides = { '.py': ['python3.12', '-I'], '.lua': ['lua'] };
    expect((await found('a', overrides)).interpreter).toEqual(['python3.12', '-I']);
    expect((await found('b', overrides)).interpreter).toEqual(['lua']);
    expect((await found('c', overrides)).interpreter).toEqual(['sh']);
    expect((await missed('b')).exitCode).toBe(127);
  });

  it('are asked before a .venv, and for TypeScript on any node', async () => {
    make('.venv/bin/python3*', 'a.py', 'b.ts');
    const overrides = { '.py': ['pypy'], '.ts': ['deno', 'run'] };
    expect((await found('a', overrides)).interpreter).toEqual(['pypy']);
    expect((await found('b', overrides)).interpreter).toEqual(['deno', 'run']);
  });
});

describe('a .venv beside the handlers', () => {
  it('runs Python handlers, and nothing else', async () => {
    make('.venv/bin/python3*', 'a.py', 'mail/b.py', 'c.sh');
    expect((await found('a')).interpreter).toEqual(['.venv/bin/python3']);
    expect((await found('mail/b')).interpreter).toEqual(['.venv/bin/python3']);
    expect((await found('c')).interpreter).toEqual(['sh']);
  });

  it('is passed over when its python is not executable', async () => {
    make('.venv/bin/python3', 'a.py');
    expect((await found('a')).interpreter).toEqual(['python3']);
  });
});

describe('TypeScript', () => {
  const { features } = process;
  const own = Object.getOwnPropertyDescriptor(features, 'typescript');
  /** Makes node one that strips types by itself, or not. */
  const stripsTypes = (value: false | 'strip') =>
    Object.defineProperty(features, 'typescript', { value, configurable: true });
  afterEach(() => {
    if (own === undefined) delete (features as { typescript?: unknown }).typescript;
    else Object.defineProperty(features, 'typescript', own);
  });

  it.each(['a.ts', 'a.mts'])('is run by node where it strips types: %s', async (file) => {
    stripsTypes('strip');
    make(file);
    expect((await found('a')).interpreter).toEqual(['node']);
  });

  it.each(['handlers', '.'])(
    'is run by the project’s tsx, in node_modules of %s',
    async (folder) => {
      make('a.ts', path.join('..', folder, 'node_modules/tsx/dist/cli.mjs'));
      const cli = path.join(root, folder, 'node_modules/tsx/dist/cli.mjs');
      for (const typescript of [false, 'strip'] as const) {
        stripsTypes(typescript);
        expect((await found('a')).interpreter).toEqual(['node', cli]);
      }
    },
  );

  it('is refused with what to do where neither is there', async () => {
    stripsTypes(false);
    make('a.ts');
    const { exitCode, reason } = await missed('a');
    expect(exitCode).toBe(126);
    expect(reason).toMatch(/^a\.ts is TypeScript, .*npm install --save-dev tsx/);
  });
});

describe('knownKinds', () => {
  it('lists what findHandler finds, sorted, and nothing hidden', async () => {
    make(
      'resize.py',
      'mail/send.sh',
      'archive*',
      'README.md',
      'data.json',
      'notes',
      'order.created.py',
      '.hidden.py',
      '.venv/lib/x.py',
      'node_modules/x/index.js',
      'mail/node_modules/y.js',
    );
    mkdirSync(path.join(dir, 'folder.py'));
    const kinds = await knownKinds(dir);
    expect(kinds).toEqual(['archive', 'mail/send', 'order.created', 'resize']);
    for (const kind of kinds) await found(kind);
    expect(await knownKinds(dir, ['.json'])).toEqual(['archive', 'data']);
  });

  it('is empty for a directory that is not there', async () => {
    expect(await knownKinds(path.join(root, 'nowhere'))).toEqual([]);
  });
});
