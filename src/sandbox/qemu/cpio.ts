/**
 * Writes an archive in the "new ASCII" cpio format, which the kernel unpacks as its first file
 * system. Source: https://docs.kernel.org/driver-api/early-userspace/buffer-format.html
 */

export interface CpioEntry {
  /** Relative, with `/`; folders come before what is in them. */
  path: string;
  /** Type and permissions, as stat(2) has them. */
  mode: number;
  data?: Uint8Array;
}

export const DIRECTORY = 0o040755;
export const PROGRAM = 0o100755;
export const PLAIN_FILE = 0o100644;

export function writeCpio(entries: readonly CpioEntry[]): Buffer {
  const all = [...entries, { path: 'TRAILER!!!', mode: 0 }];
  return Buffer.concat(all.flatMap((entry, index) => encoded(entry, index + 1)));
}

function encoded({ path, mode, data = new Uint8Array() }: CpioEntry, inode: number): Uint8Array[] {
  const name = Buffer.from(`${path}\0`);
  const fields = [inode, mode, 0, 0, 1, 0, data.length, 0, 0, 0, 0, name.length, 0];
  const header = `070701${fields.map((field) => field.toString(16).padStart(8, '0')).join('')}`;
  return [padded(Buffer.concat([Buffer.from(header), name])), padded(data)];
}

function padded(bytes: Uint8Array): Uint8Array {
  return Buffer.concat([bytes, new Uint8Array((4 - (bytes.length % 4)) % 4)]);
}
