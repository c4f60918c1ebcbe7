/**
 * A sandbox provider whose handlers find the recording proxy: the same sandboxes, with a few files
 * and variables more. Everything else about an attempt stays the drainer's.
 */
import type { Command, Sandbox, SandboxProvider } from '../sandbox/port.js';

export interface Fitting {
  /** Files in the workspace. */
  files: Readonly<Record<string, string>>;
  env: Readonly<Record<string, string>>;
}

/** @param fit is asked just before a command runs, which then has what it gives. */
export function fitted(
  provider: SandboxProvider,
  fit: (sandbox: Sandbox, command: Command) => Fitting,
): SandboxProvider {
  return {
    name: provider.name,
    enforces: provider.enforces,
    description: provider.description,
    async create(spec) {
      const sandbox = await provider.create(spec);
      return {
        workspace: sandbox.workspace,
        outputDir: sandbox.outputDir,
        write: (path, data) => sandbox.write(path, data),
        kill: () => sandbox.kill(),
        async run(command) {
          const { files, env } = fit(sandbox, command);
          for (const [path, text] of Object.entries(files)) await sandbox.write(path, text);
          return sandbox.run({ ...command, env: { ...command.env, ...env } });
        },
      };
    },
    // Whoever made the provider closes it.
    close: async () => {},
  };
}
