/** What goes into the image of a microVM: what handlers need, and nothing else of the machine. */
import { symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { neededPrograms } from '#src/drain/programs.js';
import { writeCpio } from '#src/sandbox/qemu/cpio.js';
import { readElf } from '#src/sandbox/qemu/elf.js';
import { FileList } from '#src/sandbox/qemu/file-list.js';
import { handler, makeScratch, removeScratch, type Scratch } from './helpers.js';

let scratch: Scratch;
beforeEach(() => {
  scratch = makeScratch();
});
afterEach(() => removeScratch(scratch));

it('programs are those of the extensions, of the configuration and of #! lines', async () => {
  for (const name of ['a.py', 'b.mjs', 'deep/c.rb', 'd.lua', 'notes.txt']) {
    handler(scratch, name, '');
  }
  handler(scratch, 'tool', '#!/usr/bin/env -S python3.12 -u\n', 0o755);
  handler(scratch, 'other', '#! /opt/bin/thing\n', 0o755);
  handler(scratch, 'node_modules/x/y.php', '');
  const found = await neededPrograms(scratch.handlersDir, { '.lua': ['lua5.4', '-W'] });
  expect(found).toEqual(
    ['/opt/bin/thing', 'lua5.4', 'node', 'python3', 'python3.12', 'ruby', 'sh'].sort(),
  );
});

describe('a list of files', () => {
  it('has links with what they lead to, and leaves out what it is told', () => {
    handler(scratch, 'real/program', 'x', 0o755);
    handler(scratch, 'real/test/big', 'x');
    symlinkSync('real/program', join(scratch.handlersDir, 'program'));
    const files = new FileList();
    files.add(join(scratch.handlersDir, 'program'));
    files.add(join(scratch.handlersDir, 'real'), (file) => basename(file) === 'test');
    files.add(join(scratch.handlersDir, 'missing'));
    expect(files.paths.map((file) => file.slice(scratch.handlersDir.length))).toEqual([
      '/program',
      '/real',
      '/real/program',
    ]);
    expect(files.get(join(scratch.handlersDir, 'program')).target).toBe('real/program');
  });

  it('has another fingerprint when a file has changed', () => {
    const fingerprint = () => {
      const files = new FileList();
      files.add(scratch.handlersDir);
      return files.fingerprint();
    };
    handler(scratch, 'a', 'one');
    const before = fingerprint();
    expect(fingerprint()).toBe(before);
    writeFileSync(join(scratch.handlersDir, 'a'), 'three');
    expect(fingerprint()).not.toBe(before);
  });
});

it.runIf(process.platform === 'linux')('a program names its loader and libraries', () => {
  const needs = readElf(process.execPath);
  expect(needs?.interpreter).toMatch(/ld-/);
  expect(needs?.libraries).toContain('libc.so.6');
  expect(readElf(join(scratch.root, 'none'))).toBeUndefined();
  expect(readElf(import.meta.filename)).toBeUndefined();
});

it('an archive has the fields that the kernel reads', () => {
  const archive = writeCpio([{ path: 'init', mode: 0o100755, data: Buffer.from('hello') }]);
  const text = archive.toString('latin1');
  expect(text.startsWith('070701')).toBe(true);
  expect(text.slice(14, 22)).toBe('000081ed');
  expect(text.slice(54, 62)).toBe('00000005');
  expect(archive.subarray(116, 121).toString()).toBe('hello');
  expect(archive.length % 4).toBe(0);
  expect(text).toContain('TRAILER!!!');
});
