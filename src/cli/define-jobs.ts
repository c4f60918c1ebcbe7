/** `jobq-dev jobs`: what it takes. */
import { type Command, Option } from 'commander';
import { STATUSES } from '../job/job.js';
import { ORDERS } from '../queue/list.js';
import type { Definer } from './define.js';

export function addJobs(program: Command, { add, addParent, running }: Definer): void {
  const jobs = addParent(program, 'jobs', 'look at jobs and act on them');
  const load = () => import('./commands/jobs/index.js');

  add(jobs, 'list', 'jobs, newest first', ['database'])
    .addOption(new Option('--status <status>', 'only these').choices(STATUSES))
    .option('--kind <kind>', 'only these')
    .option('--text <text>', 'only where the id, kind, payload or last error holds it')
    .option('--attempted', 'only those that were tried at least once')
    .addOption(
      new Option('--order <order>', 'newest first, or as they are claimed next').choices(ORDERS),
    )
    .option('--before <cursor>', 'the next page: what the page before says')
    .option('--limit <n>', 'at most so many (default: 100)')
    .action(running(async (command) => (await load()).list(command)));
  add(jobs, 'show <id>', 'a job with every attempt', ['database']).action(
    running(async (command) => (await load()).show(command.args[0]!, command)),
  );
  add(jobs, 'logs <id>', 'what its attempts wrote', ['database'])
    .option('--attempt <n>', 'only this attempt')
    .option('--follow', 'go on as it is written, until the job is done or dead')
    .action(running(async (command) => (await load()).logs(command.args[0]!, command)));
  add(jobs, 'explain <id>', 'why it is not running, in words', ['database', 'drain']).action(
    running(async (command) => (await load()).explain(command.args[0]!, command)),
  );
  add(jobs, 'lineage <id>', 'what it was edited from, and its edited copies', ['database']).action(
    running(async (command) => (await load()).lineage(command.args[0]!, command)),
  );
  add(jobs, 'retry [id]', 'make a dead job pending again', ['database'])
    .option('--all', 'every dead job')
    .option('--kind <kind>', 'with --all: only of this kind')
    .action(running(async (command) => (await load()).retry(command.args[0], command)));
  add(jobs, 'cancel <id>', 'make a pending or running job dead', ['database']).action(
    running(async (command) => (await load()).cancel(command.args[0]!, command)),
  );
  add(jobs, 'edit <id>', 'change a pending job, or run an edited copy of one that is over', [
    'database',
  ])
    .option('--payload <json>', 'the new payload')
    .option('--run-after <when>', '"5m" from now, or an ISO 8601 time')
    .option('--max-attempts <n>', 'the new limit')
    .action(running(async (command) => (await load()).edit(command.args[0]!, command)));
}
