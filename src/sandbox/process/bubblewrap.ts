/**
 * Optional isolation by namespaces: the handler runs under bubblewrap (Debian package
 * `bubblewrap`), which needs no root where the kernel lets users make namespaces.
 *
 * The handler then sees its own processes only, a read-only system, its workspace and its output
 * directory, and a private /tmp. Not kept from it: the kernel itself, and the network (unless
 * `network: 'none'`), which production has as well.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import type { SandboxSpec } from '../port.js';

export interface BubblewrapOptions {
  network: 'host' | 'none';
}

/** System directories that are shown, read-only; those a machine lacks are left out. */
const SYSTEM = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/etc', '/opt', '/nix'];
/** Where /etc/resolv.conf leads with systemd: without it there are no host names. */
const RESOLVER = '/run/systemd/resolve';

/**
 * Runs a command under bubblewrap, with all that a handler gets.
 * @returns undefined when it worked, else why it did not. That the program is installed proves
 * nothing: many kernels and containers forget or forbid user namespaces.
 */
export async function probeBubblewrap(options: BubblewrapOptions): Promise<string | undefined> {
  const command = bubblewrapped(['/bin/sh', '-c', 'exit 42'], '/', undefined, options);
  try {
    await promisify(execFile)(command[0]!, command.slice(1), { timeout: 10_000 });
    return 'bwrap did not run the command';
  } catch (error) {
    const { code, message, stderr } = error as { code?: unknown; message: string; stderr?: string };
    if (code === 42) return undefined;
    if (code === 'ENOENT') return 'bwrap is not installed (Debian: apt-get install bubblewrap)';
    return stderr?.trim() || message;
  }
}

/** The command line that runs `argv` under bubblewrap; without a spec, the system alone. */
export function bubblewrapped(
  argv: readonly string[],
  workspace: string,
  spec: SandboxSpec | undefined,
  options: BubblewrapOptions,
): string[] {
  const args = ['--unshare-pid', '--unshare-ipc', '--unshare-uts', '--die-with-parent'];
  // Started by root, it would leave the handler root's capabilities, with which it could undo this.
  args.push('--cap-drop', 'ALL');
  args.push('--new-session', '--proc', '/proc', '--dev', '/dev', '--tmpfs', '/tmp');
  if (options.network === 'none') args.push('--unshare-net');
  for (const directory of [...SYSTEM, RESOLVER].filter((each) => existsSync(each))) {
    args.push('--ro-bind', directory, directory);
  }
  if (spec) {
    // Interpreters outside the system directories: node itself, a version manager's python.
    for (const program of [process.execPath, argv[0]!]) {
      const directory = dirname(dirname(program));
      const covered = [...SYSTEM, spec.handlersDir].some((each) => isBelow(directory, each));
      if (!covered && directory !== '/') args.push('--ro-bind', directory, directory);
    }
    args.push('--ro-bind', spec.handlersDir, spec.handlersDir);
    args.push('--bind', spec.outputDir, spec.outputDir);
    args.push('--bind', workspace, workspace, '--chdir', workspace);
  }
  return [BWRAP, ...args, '--', ...argv];
}

const BWRAP = '/usr/bin/bwrap';

function isBelow(path: string, directory: string): boolean {
  return path === directory || path.startsWith(`${directory}/`);
}
