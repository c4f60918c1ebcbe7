/**
 * What a 64-bit ELF file says about the shared objects it needs.
 * Source: https://refspecs.linuxfoundation.org/elf/gabi4+/contents.html
 */
import { closeSync, openSync, readSync } from 'node:fs';

export interface ElfNeeds {
  /** The loader's path. */
  interpreter: string | undefined;
  /** Names of the libraries. */
  libraries: string[];
  /** Folders to look in first; may begin with `$ORIGIN`. */
  searchPath: string[];
}

const MAGIC = '\x7fELF\x02\x01'; // 64 bit, little endian
const HEADER_BYTES = 64;
const SEGMENT = { load: 1, dynamic: 2, interpreter: 3 };
const ENTRY = { needed: 1n, strings: 5n, runPath: [15n, 29n] };

interface Segment {
  type: number;
  offset: number;
  address: number;
  size: number;
}

/** @returns undefined for anything else than a 64-bit ELF file. */
export function readElf(file: string): ElfNeeds | undefined {
  let handle: number;
  try {
    handle = openSync(file, 'r');
  } catch {
    return undefined; // not to be read by us
  }
  try {
    return parse((offset, size) => {
      const bytes = Buffer.alloc(size);
      return bytes.subarray(0, readSync(handle, bytes, 0, size, offset));
    });
  } finally {
    closeSync(handle);
  }
}

function parse(read: (offset: number, size: number) => Buffer): ElfNeeds | undefined {
  const header = read(0, HEADER_BYTES);
  if (header.length < HEADER_BYTES || header.toString('latin1', 0, 6) !== MAGIC) return undefined;
  const entryBytes = header.readUInt16LE(54);
  const table = read(Number(header.readBigUInt64LE(32)), entryBytes * header.readUInt16LE(56));
  const segments: Segment[] = [];
  for (let at = 0; at + 56 <= table.length; at += entryBytes) {
    segments.push({
      type: table.readUInt32LE(at),
      offset: Number(table.readBigUInt64LE(at + 8)),
      address: Number(table.readBigUInt64LE(at + 16)),
      size: Number(table.readBigUInt64LE(at + 32)),
    });
  }
  const interpreter = segments.find(({ type }) => type === SEGMENT.interpreter);
  const needs: ElfNeeds = {
    interpreter: interpreter && textAt(read(interpreter.offset, interpreter.size), 0),
    libraries: [],
    searchPath: [],
  };
  const dynamic = segments.find(({ type }) => type === SEGMENT.dynamic);
  if (dynamic === undefined) return needs;
  const bytes = read(dynamic.offset, dynamic.size);
  const entries: [tag: bigint, value: number][] = [];
  for (let at = 0; at + 16 <= bytes.length; at += 16) {
    entries.push([bytes.readBigUInt64LE(at), Number(bytes.readBigUInt64LE(at + 8))]);
  }
  const strings = entries.find(([tag]) => tag === ENTRY.strings)?.[1] ?? 0;
  const home = segments.find(
    ({ type, address, size }) =>
      type === SEGMENT.load && strings >= address && strings < address + size,
  );
  if (home === undefined) return needs;
  const stringsAt = home.offset + strings - home.address;
  const text = (value: number): string => textAt(read(stringsAt + value, 4096), 0);
  for (const [tag, value] of entries) {
    if (tag === ENTRY.needed) needs.libraries.push(text(value));
    if (ENTRY.runPath.includes(tag)) needs.searchPath.push(...text(value).split(':'));
  }
  return needs;
}

function textAt(bytes: Buffer, start: number): string {
  return bytes.toString('utf8', start, bytes.indexOf(0, start));
}
