/** The shared objects that programs need, as this machine's loader would find them. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { readElf } from './elf.js';

/** Absolute paths of all that the given files need, and of what those need; others are passed over. */
export function librariesOf(files: readonly string[]): string[] {
  const known = loaderCache();
  const found = new Set<string>();
  const queue = [...files];
  for (let file = queue.pop(); file !== undefined; file = queue.pop()) {
    const needs = readElf(file);
    if (needs === undefined) continue;
    const origin = path.dirname(file);
    const folders = needs.searchPath.map((each) => each.replace(/\$\{?ORIGIN\}?/, origin));
    const libraries = needs.libraries.map(
      (name) => folders.map((each) => path.join(each, name)).find(existsSync) ?? known.get(name),
    );
    for (const library of [needs.interpreter, ...libraries]) {
      if (library === undefined || found.has(library)) continue;
      found.add(library);
      queue.push(library);
    }
  }
  return [...found];
}

/** What `ldconfig -p` lists: `libz.so.1 (libc6,x86-64) => /lib/x86_64-linux-gnu/libz.so.1`. */
function loaderCache(): Map<string, string> {
  const abi = process.arch === 'arm64' ? 'AArch64' : 'x86-64';
  const text = execFileSync('/sbin/ldconfig', ['-p'], { encoding: 'utf8', maxBuffer: 64 << 20 });
  const known = new Map<string, string>();
  for (const [, name, kind, file] of text.matchAll(/^\s+(\S+) \(([^)]*)\) => (\/.*)$/gm)) {
    if (kind!.includes(abi) && !known.has(name!)) known.set(name!, file!);
  }
  return known;
}
