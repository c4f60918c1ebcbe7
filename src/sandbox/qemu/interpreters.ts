/** What an interpreter needs besides its program: asked of the interpreter itself. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';

export interface InterpreterFiles {
  /** The program itself: a wrapper (pyenv's, for one) is looked behind. */
  program: string;
  directories: string[];
  leaveOut: (file: string) => boolean;
  /** A shell line that brings what most handlers need into the guest's memory. */
  warm: string;
}

const PYTHON = `
import os, sys, sysconfig
paths = sysconfig.get_paths()
print(os.path.realpath(sys.executable))
print(sysconfig.get_path("stdlib"))
print(sysconfig.get_path("platstdlib"))
print(os.path.join(sysconfig.get_path("platstdlib"), "lib-dynload"))
`;
/** Of python's own library: what only its developers use, and what is not its own. */
const NOT_OF_PYTHON =
  /\/(test|tests|idlelib|tkinter|turtledemo|ensurepip|lib2to3|site-packages|dist-packages|config-[^/]*)$|\.a$/;
const PYTHON_WARM =
  'import base64,collections,csv,datetime,decimal,functools,hashlib,io,json,logging,os,pathlib,random,re,shutil,sqlite3,ssl,subprocess,sys,tempfile,time,traceback,urllib.parse,urllib.request,uuid,zlib';

/** @returns undefined for a program that needs nothing else. */
export async function interpreterFiles(program: string): Promise<InterpreterFiles | undefined> {
  const name = path.basename(program);
  if (/^python[\d.]*$/.test(name)) {
    const [real = program, ...directories] = await ask(program, ['-c', PYTHON]);
    const modules = PYTHON_WARM.split(',');
    const tries = modules.map((each) => `try:\n import ${each}\nexcept ImportError: pass`);
    return {
      program: real,
      directories,
      leaveOut: (file) => NOT_OF_PYTHON.test(file),
      warm: `${quoted(real)} -c ${quoted(tries.join('\n'))}`,
    };
  }
  if (name === 'node') {
    const source =
      'require("fs"); require("crypto"); require("child_process"); import("node:fs/promises")';
    return {
      program,
      directories: [],
      leaveOut: () => false,
      warm: `${quoted(program)} -e ${quoted(source)}`,
    };
  }
  if (name === 'perl') {
    const source =
      'use Config; print join "\\n", $^X, grep { -d } @Config{qw(privlibexp archlibexp)}, @INC';
    const [real = program, ...directories] = await ask(program, ['-e', source]);
    return {
      program: real,
      // What an administrator added is no part of perl.
      directories: directories.filter((each) => !/^\/(etc|usr\/local)\//.test(each)),
      leaveOut: (file) => /\/(pod|unicore\/lib)$|\.(pod|a|h)$/.test(file),
      warm: `${quoted(program)} -e 1`,
    };
  }
  if (name === 'ruby') {
    const source = 'puts RbConfig.ruby, RbConfig::CONFIG.values_at("rubylibdir", "rubyarchdir")';
    const [real = program, ...directories] = await ask(program, ['-rrbconfig', '-e', source]);
    return {
      program: real,
      directories,
      leaveOut: () => false,
      warm: `${quoted(real)} -rjson -e 1`,
    };
  }
  if (name === 'php') {
    const source =
      'echo PHP_BINARY, "\\n", PHP_EXTENSION_DIR, "\\n", PHP_CONFIG_FILE_PATH, "\\n", PHP_CONFIG_FILE_SCAN_DIR;';
    const [real = program, ...directories] = await ask(program, ['-r', source]);
    return { program: real, directories, leaveOut: () => false, warm: `${quoted(real)} -r ''` };
  }
  return undefined;
}

async function ask(program: string, args: string[]): Promise<string[]> {
  const { stdout } = await promisify(execFile)(program, args, { cwd: '/', timeout: 20_000 });
  return stdout.split('\n').filter((line) => line.startsWith('/') && existsSync(line));
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
