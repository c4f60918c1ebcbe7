/** What draining takes from the configuration. */
import path from 'node:path';
import type { Config } from './config.js';
import type { AttemptSettings } from './drain/attempt.js';
import { neededPrograms } from './drain/programs.js';
import { JobqError } from './errors.js';
import { RETRY_POLICIES } from './job/retry.js';
import { createProvider } from './sandbox/create.js';
import { cleanLeftovers } from './sandbox/leftovers/journal.js';
import type { SandboxProvider } from './sandbox/port.js';
import { sharing } from './sandbox/shared.js';

/**
 * The sandbox provider of a configuration; first ends what an earlier crash has left.
 * @param warn is told what was asked for and is not enforced here, and what took long.
 * @throws JobqError `sandbox-unavailable`, under `strict` also for such a shortfall.
 */
export async function makeProvider(
  config: Config,
  warn: (message: string) => void,
): Promise<SandboxProvider> {
  const journalDir = path.join(config.dataDir, 'journal');
  await cleanLeftovers(journalDir);
  const made = await createProvider({
    name: config.sandbox,
    workDir: path.join(config.dataDir, 'work'),
    journalDir,
    namespaces: config.namespaces,
    handlersDir: config.handlers,
    interpreters: () => neededPrograms(config.handlers, config.interpreters),
    memoryBytes: config.memoryBytes,
    kernel: config.vmKernel,
    warm: config.warm,
    pandastack: config.pandastack,
    onProgress: warn,
  });
  const provider = sharing(made, config.jobsPerSandbox);
  const [shortfall] = shortfalls(config, provider);
  if (shortfall === undefined) return provider;
  if (!config.strict) {
    warn(shortfall);
    return provider;
  }
  await provider.close();
  throw new JobqError(
    'sandbox-unavailable',
    shortfall,
    'Leave out "strict" to go on all the same; jobq-dev doctor says what would help.',
  );
}

/** What was asked for and is not enforced. */
function shortfalls(config: Config, { name, enforces }: SandboxProvider): string[] {
  return [
    ...(config.namespaces === 'auto' && enforces.isolation === 'none'
      ? [
          `namespaces were asked for, and the sandbox provider "${name}" runs without isolation here`,
        ]
      : []),
    ...(enforces.memory === 'none'
      ? [`the memory limit is not enforced by the sandbox provider "${name}" here`]
      : []),
  ];
}

/** What the drainer takes from the configuration. */
export function drainSettings(config: Config) {
  return {
    retryPolicy: RETRY_POLICIES[config.retry],
    seed: config.seed,
    leaseMs: config.leaseMs,
    batch: config.batch,
    concurrency: config.concurrency,
  };
}

/** What every attempt takes from the configuration. */
export function attemptSettings(config: Config, outputRoot: string): AttemptSettings {
  return {
    handlersDir: config.handlers,
    outputRoot,
    interpreters: config.interpreters,
    env: config.env,
    timeoutMs: config.timeoutMs,
    sandboxTtlMs: config.sandboxTtlMs,
    memoryBytes: config.memoryBytes,
    outputLimitBytes: config.outputLimitBytes,
  };
}
