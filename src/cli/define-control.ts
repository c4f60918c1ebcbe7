import type { Command } from 'commander';
import type { Definer } from './define.js';

/** Commands that steer the running emulator. */
export function addControl(program: Command, { add, addParent, running }: Definer): void {
  const load = () => import('./commands/control.js');

  add(program, 'advance [duration]', 'move the running emulator’s clock ahead, e.g. 5m', [
    'database',
  ])
    .option('--to <moment>', 'next-tick, next-retry, or an ISO 8601 time')
    .action(running(async (command) => (await load()).advance(command.args[0], command)));
  add(program, 'pause', 'hold the running emulator’s schedule', ['database']).action(
    running(async (command) => (await load()).pause(command)),
  );
  add(program, 'resume', 'let the running emulator’s schedule go on', ['database']).action(
    running(async (command) => (await load()).resume(command)),
  );
  const sandbox = addParent(program, 'sandbox', 'where attempts run');
  add(sandbox, 'use <provider>', 'from the next attempt on, without a restart', [
    'database',
  ]).action(running(async (command) => (await load()).useSandbox(command.args[0]!, command)));
  add(sandbox, 'build', 'make what microVMs need from this machine’s programs', [
    'place',
    'attempt',
  ])
    .option('--vm-kernel <file>', 'a kernel (default: one that is found, else fetched by apt-get)')
    .action(
      running(async (command) => (await import('./commands/sandbox.js')).buildImage(command)),
    );
}
