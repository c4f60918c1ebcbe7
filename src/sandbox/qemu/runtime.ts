/**
 * What a guest's read-only file system is made of: the programs that handlers need, as this machine
 * has them, and the packages beside the handlers. Nothing else of the machine goes in.
 */
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { HANDLER_PATH } from '../handler-command.js';
import { FileList } from './file-list.js';
import { interpreterFiles } from './interpreters.js';
import { librariesOf } from './libraries.js';

/** What scripts expect of any Debian: its essential programs. Those that are missing are left out. */
const PROGRAMS = `
  sh bash dash env perl
  [ arch b2sum base32 base64 basename basenc cat chgrp chmod chown cksum comm cp csplit cut date dd df
  dir dircolors dirname du echo expand expr factor false fmt fold groups head hostid id install join
  link ln logname ls md5sum mkdir mkfifo mknod mktemp mv nice nl nohup nproc numfmt od paste pathchk
  printenv printf ptx pwd readlink realpath rm rmdir seq sha1sum sha224sum sha256sum sha384sum
  sha512sum shred shuf sleep sort split stat stdbuf stty sum sync tac tail tee test timeout touch tr
  true truncate tsort tty uname unexpand uniq unlink users vdir wc who whoami yes
  awk mawk gawk bc bunzip2 bzip2 cmp column diff egrep fgrep file find flock free getopt grep gunzip
  gzip hostname jq kill lsblk mount openssl patch pgrep pkill ps rev sed setsid sqlite3 tar top unzip
  uptime watch which xargs xz xzcat zcat zip zstd
`
  .split(/\s+/)
  .filter((name) => name !== '');

/** The folders that lead to those below /usr on most systems. */
const ROOT_LINKS = ['/bin', '/sbin', '/lib', '/lib64', '/lib32'];
const DATA = [
  '/usr/lib/locale/C.utf8',
  '/usr/share/zoneinfo',
  '/etc/mime.types',
  '/etc/ld.so.cache',
];

export interface Runtime {
  files: FileList;
  /** Links to make besides, by path: programs that stand where no handler looks. */
  links: Map<string, string>;
  /** Programs that were asked for and are not on this machine. */
  missing: string[];
  /** Folders of packages and files beside the handlers that are in `files`, absolute. */
  packages: string[];
  /** Shell lines to run before the snapshot. */
  warm: string[];
}

/**
 * @param handlersDir absolute, links resolved.
 * @param interpreters programs: bare names, or absolute paths.
 */
export async function collectRuntime(
  handlersDir: string,
  interpreters: readonly string[],
): Promise<Runtime> {
  const files = new FileList();
  const links = new Map<string, string>();
  const warm: string[] = [];
  const missing: string[] = [];
  for (const name of ROOT_LINKS) files.addLink(name);
  for (const name of PROGRAMS) {
    const found = findOn(HANDLER_PATH, name);
    if (found !== undefined) files.add(found);
  }
  for (const name of new Set([...interpreters, 'perl'])) {
    // Beside the handlers, and goes in with them.
    if (name.includes('/') && !path.isAbsolute(name)) continue;
    const found = findInterpreter(name);
    if (found === undefined) {
      missing.push(name);
      continue;
    }
    const more = await interpreterFiles(found);
    const program = more?.program ?? found;
    files.add(found);
    files.add(program);
    for (const directory of more?.directories ?? []) files.add(directory, more!.leaveOut);
    if (more !== undefined) warm.push(more.warm);
    const standsOnPath = findOn(HANDLER_PATH, path.basename(name)) === found;
    if (!name.includes('/') && !standsOnPath) links.set(`/usr/local/bin/${name}`, program);
  }
  for (const each of DATA) files.add(each);
  const packages = packagesBeside(handlersDir);
  for (const each of packages) files.add(each);
  const venv = path.join(handlersDir, '.venv/bin/python3');
  const python = existsSync(venv) ? await interpreterFiles(venv).catch(() => undefined) : undefined;
  if (python !== undefined) {
    files.add(python.program);
    for (const directory of python.directories) files.add(directory, python.leaveOut);
    warm.push(python.warm);
  }
  for (const library of librariesOf(files.maybeObjects)) files.add(library);
  return { files, links, missing, packages, warm };
}

function findInterpreter(name: string): string | undefined {
  if (path.isAbsolute(name)) return existsSync(name) ? name : undefined;
  // The node that runs jobq-dev, as the child process has it.
  if (name === 'node') return process.execPath;
  return findOn(`${HANDLER_PATH}:${process.env.PATH ?? ''}`, name);
}

function findOn(searchPath: string, name: string): string | undefined {
  return searchPath
    .split(':')
    .map((folder) => path.join(folder, name))
    .find((file) => path.isAbsolute(file) && existsSync(file));
}

/**
 * `.venv` and `node_modules` in the handlers directory and in the folders above it up to the project's
 * (the next with a package.json), and that package.json: it says what kind of module a .js is. Never
 * as far as the home directory.
 */
function packagesBeside(handlersDir: string): string[] {
  const found: string[] = [];
  const project = projectOf(handlersDir);
  for (let folder = handlersDir; ; folder = path.dirname(folder)) {
    const names = [
      'node_modules',
      ...(folder === handlersDir ? ['.venv'] : ['package.json', 'tsconfig.json']),
    ];
    for (const name of names) {
      const file = path.join(folder, name);
      if (existsSync(file)) found.push(file);
    }
    if (folder === project) return found;
  }
}

function projectOf(handlersDir: string): string {
  const limits = ['/', homedir()];
  for (let folder = handlersDir; !limits.includes(folder); folder = path.dirname(folder)) {
    if (existsSync(path.join(folder, 'package.json'))) return folder;
  }
  return handlersDir;
}
