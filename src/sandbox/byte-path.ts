/**
 * File names are bytes. Here they are held as texts of one character a byte ("latin1"), so that a
 * name which is no UTF-8 is the same name in the guest and out of it.
 */
export function bytePath(...parts: string[]): Buffer {
  return Buffer.from(parts.join('/'), 'latin1');
}

/** The bytes of an ordinary text, as such a text. */
export function asBytes(text: string): string {
  return Buffer.from(text).toString('latin1');
}
