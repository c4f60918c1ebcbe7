/** Finds the program that runs a handler. */
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  openSync,
  readSync,
  statSync,
} from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { HANDLER_PATH, type StartFailure } from '../handler-command.js';
import type { Command } from '../port.js';

/**
 * The program and arguments of a command, with paths made absolute. Looks are synchronous: a few
 * microseconds each, where a round through the thread pool costs more.
 */
export function resolveProgram(
  command: Pick<Command, 'interpreter' | 'script' | 'args' | 'env'>,
  handlersDir: string,
): { argv: string[] } | StartFailure {
  const script = join(handlersDir, command.script);
  const [name, ...options] = command.interpreter;
  if (name === undefined) {
    const failure =
      whyNotExecutable(script, command.script) ?? whyNoInterpreter(script, command.script);
    return failure ?? { argv: [script, ...command.args] };
  }
  const found = findProgram(name, handlersDir, command.env.PATH ?? HANDLER_PATH);
  return 'code' in found ? found : { argv: [found.path, ...options, script, ...command.args] };
}

function findProgram(
  name: string,
  handlersDir: string,
  handlerPath: string,
): { path: string } | StartFailure {
  if (name.includes('/')) {
    const path = isAbsolute(name) ? name : join(handlersDir, name);
    return whyNotExecutable(path, name) ?? { path };
  }
  // The node that runs jobq-dev: there for certain, and the one whose version was checked.
  if (name === 'node') return { path: process.execPath };
  const directories = [handlerPath, process.env.PATH ?? ''].flatMap((path) =>
    path.split(delimiter).filter((directory) => isAbsolute(directory)),
  );
  for (const directory of directories) {
    const path = join(directory, name);
    if (whyNotExecutable(path, name) === undefined) return { path };
  }
  const looked = [...new Set(directories)].join(', ');
  return {
    code: 127,
    message: `${name}: not found on this machine (looked in ${looked}); install it, or set "interpreters" in jobq.config.json`,
  };
}

function whyNotExecutable(path: string, shown: string): StartFailure | undefined {
  try {
    if (!statSync(path).isFile()) return { code: 126, message: `${shown}: not a file (${path})` };
    accessSync(path, constants.X_OK);
    return undefined;
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (syscall === 'access') {
      return { code: 126, message: `${shown}: not executable; make it so with: chmod +x ${path}` };
    }
    const reason = code === 'ENOENT' ? 'there is no such file' : `cannot be read, ${code}`;
    return { code: 127, message: `${shown}: ${reason} (${path})` };
  }
}

/** The system only says "no such file" of a script that is there; this names what is missing. */
function whyNoInterpreter(path: string, shown: string): StartFailure | undefined {
  const start = Buffer.alloc(256);
  const file = openSync(path, 'r');
  const length = readSync(file, start);
  closeSync(file);
  const program = /^#![ \t]*([^\s]+)/.exec(start.toString('latin1', 0, length))?.[1];
  if (program === undefined || existsSync(program)) return undefined;
  return { code: 127, message: `${shown}: its #! line names ${program}, which is not there` };
}
