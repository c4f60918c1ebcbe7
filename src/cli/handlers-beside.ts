import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Config } from '../config.js';

/** Where nobody said which handlers, and there are none here, those beside the fixture serve. */
export function withHandlersBeside(config: Config, fixture: string | undefined): Config {
  if (config.handlersGiven || existsSync(config.handlers) || fixture === undefined) return config;
  const beside = path.join(path.dirname(path.resolve(fixture)), 'handlers');
  return existsSync(beside) ? { ...config, handlers: beside } : config;
}
