import { JobqError } from '../errors.js';

/** The parts of a path in the workspace. @throws JobqError `input` for a path that leads elsewhere. */
export function plainParts(file: string): string[] {
  const parts = file.split('/');
  if (file.includes('\0') || parts.some((part) => ['', '.', '..'].includes(part))) {
    throw outside(file);
  }
  return parts;
}

/** What is said of a path that is none in the workspace. */
export function outside(file: string): JobqError {
  return new JobqError(
    'input',
    `cannot write ${JSON.stringify(file)}: not a path inside the sandbox's workspace`,
    'Give a relative path, without "..", that no link leads elsewhere and no directory has.',
  );
}
