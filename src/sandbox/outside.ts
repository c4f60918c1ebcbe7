import { JobqError } from '../errors.js';

/** What a machine's workspace says of a path that is none in it. */
export function outside(file: string): JobqError {
  return new JobqError(
    'input',
    `cannot write ${JSON.stringify(file)}: not a path inside the sandbox's workspace`,
    'Give a relative path, without "..", that no link leads elsewhere and no directory has.',
  );
}
