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

/** How execve(2) would end: no text of a command can hold a NUL. As of a shell, with its status. */
export const HOLDS_NUL = {
  code: 126,
  message: 'an argument or environment variable holds a NUL character',
} as const;

export function holdsNul(texts: readonly string[], env: Readonly<Record<string, string>>): boolean {
  return [...texts, ...Object.entries(env).flat()].some((text) => text.includes('\0'));
}
