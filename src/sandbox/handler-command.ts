/** What every provider adds to a handler's command, and what none can start. */
import type { Command } from './port.js';

/** What a handler finds programs in: what a plain Debian has, nothing of the developer's. */
export const HANDLER_PATH = '/usr/local/bin:/usr/bin:/bin';

/** The handler's whole environment; `home` is its working directory. */
export function handlerEnv(
  { env }: Pick<Command, 'env'>,
  home: string,
): Readonly<Record<string, string>> {
  return { PATH: HANDLER_PATH, HOME: home, LANG: 'C.UTF-8', ...env };
}

/** The shell's exit statuses for a program that is missing, and for one that cannot be run. */
export type StartFailure = { code: 126 | 127; message: string };

/** No text of a command can hold a NUL (execve(2)). */
export function nulFailure(
  texts: readonly string[],
  env: Readonly<Record<string, string>>,
): StartFailure | undefined {
  const all = [...texts, ...Object.entries(env).flat()];
  if (!all.some((text) => text.includes('\0'))) return undefined;
  return { code: 126, message: 'an argument or environment variable holds a NUL character' };
}
