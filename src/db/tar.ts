/**
 * Just enough of the ustar format for the prepared database: plain files and directories with names
 * under 100 bytes. PGlite reads the same file for databases in memory.
 * Source: https://pubs.opengroup.org/onlinepubs/9699919799/utilities/pax.html (ustar)
 */

const BLOCK = 512;

export interface TarEntry {
  /** Relative, with `/`. */
  path: string;
  /** undefined for a directory. */
  data: Uint8Array | undefined;
}

/** @returns the entries of an uncompressed tar, in order; `data` are views into it. */
export function* readTar(tar: Buffer): Generator<TarEntry> {
  for (let at = 0; at + BLOCK <= tar.length && tar[at] !== 0; ) {
    const end = tar.indexOf(0, at);
    const path = tar.toString('utf8', at, Math.min(end, at + 100)).replace(/^\/+|\/+$/g, '');
    const size = Number.parseInt(tar.toString('latin1', at + 124, at + 135), 8);
    const isDirectory = tar[at + 156] === 0x35;
    at += BLOCK;
    if (path.split('/').includes('..')) throw new Error(`unsafe path in archive: ${path}`);
    yield { path, data: isDirectory ? undefined : tar.subarray(at, at + size) };
    at += Math.ceil(size / BLOCK) * BLOCK;
  }
}

/** @returns an uncompressed tar of the entries. The same entries give the same bytes. */
export function writeTar(entries: readonly TarEntry[]): Buffer {
  const blocks: Uint8Array[] = [];
  for (const { path, data } of entries) {
    blocks.push(header(path, data));
    if (data === undefined) continue;
    blocks.push(data, new Uint8Array((BLOCK - (data.length % BLOCK)) % BLOCK));
  }
  blocks.push(new Uint8Array(2 * BLOCK));
  return Buffer.concat(blocks);
}

function header(path: string, data: Uint8Array | undefined): Buffer {
  if (Buffer.byteLength(path) > 100) throw new Error(`path too long for ustar: ${path}`);
  const block = Buffer.alloc(BLOCK);
  const octal = (value: number, at: number, digits: number) =>
    block.write(value.toString(8).padStart(digits, '0'), at, 'latin1');
  block.write(path, 0);
  octal(data === undefined ? 0o700 : 0o600, 100, 7);
  octal(0, 108, 7); // owner
  octal(0, 116, 7); // group
  octal(data?.length ?? 0, 124, 11);
  octal(0, 136, 11); // modified: fixed, so that a build is reproducible
  block.write('        ', 148, 'latin1'); // the checksum counts as blanks in its own sum
  block.write(data === undefined ? '5' : '0', 156, 'latin1');
  block.write('ustar\u000000', 257, 'latin1');
  octal(
    block.reduce((sum, byte) => sum + byte, 0),
    148,
    6,
  );
  block[154] = 0;
  return block;
}
