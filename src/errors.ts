import { getSystemErrorMap } from 'node:util';

/**
 * Errors that a user meets. A closed list of codes, each with the exit status it ends a command
 * with; anything else that is thrown is a fault of jobq-dev itself.
 */
const EXIT_STATUS = {
  /** The command line is wrong. */
  usage: 2,
  /** The configuration file or environment is wrong. */
  config: 2,
  /** A fixture, payload or other input is wrong. */
  input: 2,
  /** There is no such job. */
  'not-found': 1,
  /** The job is not in a state that allows this. */
  conflict: 1,
  'port-taken': 3,
  'directory-locked': 3,
  'directory-unusable': 3,
  'database-unreachable': 3,
  'database-refused': 3,
  'sandbox-unavailable': 3,
  'emulator-unreachable': 3,
} as const;

export type ErrorCode = keyof typeof EXIT_STATUS;

/**
 * What is wrong, with the value (`message`), and what to do about it (`hint`). Each is one line.
 */
export class JobqError extends Error {
  override readonly name = 'JobqError';
  readonly exitStatus: number;
  constructor(
    readonly code: ErrorCode,
    message: string,
    readonly hint?: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
    // A code that came over the wire may be none of ours.
    this.exitStatus = EXIT_STATUS[code] ?? 1;
  }
}

/** What the operating system said, in its words and by its name: `no such file or directory (ENOENT)`. */
export function systemReason(error: unknown): string {
  const { errno, code } = error as NodeJS.ErrnoException;
  const words = errno === undefined ? undefined : getSystemErrorMap().get(errno)?.[1];
  return words === undefined ? (code ?? String(error)) : `${words} (${code})`;
}
