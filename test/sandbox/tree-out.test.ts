/** What a guest sends is not trusted: nothing leads out of the folder that is made for it. */
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TreeReceiver } from '#src/sandbox/qemu/tree-out.js';
import { replaceContent } from '#src/sandbox/replace-content.js';
import { handler, makeScratch, removeScratch, type Scratch } from './helpers.js';

let scratch: Scratch;
beforeEach(() => {
  scratch = makeScratch();
});
afterEach(() => removeScratch(scratch));

describe('files from a guest', () => {
  const fresh = () => join(scratch.root, 'fresh');
  const entry = (...fields: string[]) => ({
    letter: 'F',
    payload: Buffer.from(fields.join('\0'), 'latin1'),
  });
  const file = (path: string) => entry('f', '420', '1700000000', path, '');

  it('come as they were: content, permissions, time, links', () => {
    const receiver = new TreeReceiver(fresh());
    receiver.take(entry('d', '448', '0', 'folder', ''));
    receiver.take(entry('f', '493', '1700000000', 'folder/run', ''));
    receiver.take({ letter: 'D', payload: Buffer.from('one ') });
    receiver.take({ letter: 'D', payload: Buffer.from('two') });
    receiver.take(entry('l', '511', '0', 'link', 'folder/run'));
    receiver.finish();
    expect(readFileSync(join(fresh(), 'link'), 'utf8')).toBe('one two');
    const stats = lstatSync(join(fresh(), 'folder/run'));
    expect([stats.mode & 0o777, stats.mtimeMs]).toEqual([0o755, 1_700_000_000_000]);
  });

  it.each(['../x', '/x', 'a/../../x', '', '.', '..', 'folder//x', 'nowhere/x'])(
    'are refused at %j',
    (path) => {
      const receiver = new TreeReceiver(fresh());
      receiver.take(entry('d', '448', '0', 'folder', ''));
      expect(() => receiver.take(file(path))).toThrow('outside');
      expect(readdirSync(scratch.root).sort()).toEqual(['fresh', 'handlers', 'output']);
    },
  );

  it('go through no link that came before', () => {
    const receiver = new TreeReceiver(fresh());
    receiver.take(entry('l', '511', '0', 'away', scratch.outputDir));
    expect(() => receiver.take(file('away/x'))).toThrow('outside');
    expect(() => receiver.take(file('away'))).toThrow();
    expect(readdirSync(scratch.outputDir)).toEqual([]);
  });
});

describe('what replaces a folder', () => {
  it('takes the place of all that was there, and follows no link out of it', async () => {
    const outside = join(scratch.root, 'outside');
    const fresh = join(scratch.root, 'fresh');
    mkdirSync(outside);
    mkdirSync(fresh);
    handler({ ...scratch, handlersDir: outside }, 'precious', 'x');
    handler({ ...scratch, handlersDir: scratch.outputDir }, 'old/file', 'x');
    symlinkSync(outside, join(scratch.outputDir, 'link'));
    handler({ ...scratch, handlersDir: fresh }, 'link/new', 'new');
    await replaceContent(scratch.outputDir, fresh);
    expect(readdirSync(scratch.outputDir)).toEqual(['link']);
    expect(readFileSync(join(scratch.outputDir, 'link/new'), 'utf8')).toBe('new');
    expect(readdirSync(outside)).toEqual(['precious']);
    expect(existsSync(join(fresh, 'link'))).toBe(false);
  });
});
