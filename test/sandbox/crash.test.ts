/** jobq-dev is killed with SIGKILL: what is left, and what the next start makes of it. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { cleanLeftovers } from '#src/sandbox/leftovers/journal.js';
import { createProcessProvider } from '#src/sandbox/process/index.js';
import { ESCAPED, ESCAPES } from './escapes.js';
import {
  cgroupsBelow,
  endMarkedAfterTest,
  handler,
  makeScratch,
  marked,
  marker,
  processes,
  removeScratch,
  type Scratch,
  until,
} from './helpers.js';

const STAND_IN = fileURLToPath(new URL('./stand-in.mjs', import.meta.url));

describe('jobq-dev that is killed', () => {
  let scratch: Scratch;
  let journal: string;
  let standIn: ChildProcess | undefined;
  let firstOutput = '';
  beforeEach(() => {
    scratch = makeScratch();
    journal = join(scratch.root, 'journal');
  });
  afterEach(() => {
    standIn?.kill('SIGKILL');
    removeScratch(scratch);
  });

  async function startStandIn(source: string, mark: string, perl = 'yes'): Promise<ChildProcess> {
    const script = handler(scratch, 'crash.sh', source);
    const child = spawn(process.execPath, [STAND_IN, scratch.root, script, perl], {
      env: { ...process.env, MARK: mark },
      // One descriptor more than usual, as a shell or an editor's terminal may leave open. (Node
      // itself closes the first few, up to a gap.)
      stdio: ['ignore', 'pipe', 'inherit', ...Array(40).fill('ignore'), 'pipe'],
    });
    standIn = child;
    const [text] = await once(child.stdout!, 'data');
    firstOutput = String(text);
    return child;
  }
  async function kill(child: ChildProcess): Promise<void> {
    const exit = once(child, 'exit');
    child.kill('SIGKILL');
    await exit;
  }
  const entryOf = (file: string) => JSON.parse(readFileSync(join(journal, file), 'utf8'));

  it('nothing runs two seconds later, whatever the handler started', async () => {
    const mark = marker();
    endMarkedAfterTest(mark);
    const child = await startStandIn(`${ESCAPES} echo go; sleep 300 & wait`, mark);
    await until('all descendants', () => marked(mark).length >= ESCAPED);
    await kill(child);
    const ours = () => processes().filter((each) => each.command.includes('warden.pl'));
    const { wardens, directories, cgroups } = entryOf(readdirSync(journal)[0]!);
    await until(
      'nothing is left',
      () => marked(mark).length === 0 && !ours().some((each) => each.pid === wardens[0].pid),
      2_000,
    );
    expect(existsSync(directories[0])).toBe(false);
    expect(cgroups.flatMap(cgroupsBelow)).toEqual([]);

    // The directories of the attempt go at the next start.
    expect(readdirSync(join(scratch.root, 'work'))).toHaveLength(1);
    const left = await cleanLeftovers(journal);
    expect(left.pids).toEqual([]);
    expect(readdirSync(join(scratch.root, 'work'))).toEqual([]);
    expect(readdirSync(journal)).toEqual([]);
  });

  it('the handler had no descriptor that jobq-dev had inherited', async () => {
    const mark = marker();
    endMarkedAfterTest(mark);
    await startStandIn('ls /proc/self/fd; sleep $MARK', mark);
    // 3 is what ls itself opens.
    expect(firstOutput).toBe('0\n1\n2\n3\n');
  });

  it('the next start ends what had no warden', async () => {
    const mark = marker();
    endMarkedAfterTest(mark);
    const child = await startStandIn('setsid sleep $MARK & echo go; sleep $MARK', mark, 'no');
    await until('both', () => marked(mark).length === 2);
    await kill(child);
    expect(marked(mark)).toHaveLength(2);
    const left = await cleanLeftovers(journal);
    expect(left.pids.length).toBeGreaterThanOrEqual(2);
    await until('both are gone', () => marked(mark).length === 0);
    expect(readdirSync(join(scratch.root, 'work'))).toEqual([]);
    expect(readdirSync(journal)).toEqual([]);
  });

  it('the next start ends what lost its warden as well, and removes its cgroup', async ({
    skip,
  }) => {
    const mark = marker();
    endMarkedAfterTest(mark);
    const child = await startStandIn('env -i setsid sleep $MARK & echo go; sleep $MARK', mark);
    const { wardens, cgroups } = entryOf(readdirSync(journal)[0]!);
    if (cgroups.length === 0) skip('no cgroups here');
    await until('both', () => marked(mark).length === 2);
    const warden: number = wardens[0].pid;
    const monitors = processes().filter((each) => each.parent === warden);
    expect(monitors).toHaveLength(1);
    // Stopped first, or each would clean up after the other.
    const helpers = [warden, monitors[0]!.pid];
    for (const pid of helpers) process.kill(pid, 'SIGSTOP');
    await kill(child);
    for (const pid of helpers) process.kill(pid, 'SIGKILL');
    const hidden = marked(mark).map((each) => each.pid);
    expect(hidden).toHaveLength(2);
    expect(cgroups.flatMap(cgroupsBelow)).toHaveLength(1);
    const left = await cleanLeftovers(journal);
    expect(left.pids).toEqual(expect.arrayContaining(hidden));
    expect(cgroups.flatMap(cgroupsBelow)).toEqual([]);
    await until('both are gone', () => marked(mark).length === 0);
  });

  it('the next start leaves a running jobq-dev alone', async () => {
    const mark = marker();
    endMarkedAfterTest(mark);
    await startStandIn('echo go; sleep $MARK', mark);
    await until('it runs', () => marked(mark).length === 1);
    expect(await cleanLeftovers(journal)).toEqual({ pids: [], directories: [] });
    expect(marked(mark)).toHaveLength(1);
    expect(readdirSync(join(scratch.root, 'work'))).toHaveLength(1);
    expect(readdirSync(journal)).toHaveLength(1);
  });

  it('the next start spares a process that got an old pid, and a directory that is not ours', async () => {
    const provider = await createProcessProvider({
      workDir: join(scratch.root, 'work'),
      journalDir: journal,
    });
    const [file] = readdirSync(journal);
    const entry = entryOf(file!);
    const bystander = spawn('sleep', ['300']);
    const precious = join(scratch.root, 'precious');
    mkdirSync(precious);
    const owner = { ...entry.owner, start: '1' }; // as if this pid had been another process's
    writeFileSync(
      join(journal, 'process-old.json'),
      JSON.stringify({
        owner,
        wardens: [{ ...entry.wardens[0], pid: bystander.pid }],
        workDir: precious,
        directories: [precious],
      }),
    );
    expect(await cleanLeftovers(journal)).toEqual({ pids: [], directories: [] });
    expect(bystander.exitCode).toBe(null);
    expect(bystander.signalCode).toBe(null);
    expect(existsSync(precious)).toBe(true);
    expect(readdirSync(journal)).toEqual([file]);
    bystander.kill('SIGKILL');
    await provider.close();
  });

  it('the next start removes what was being written when its writer was killed', async () => {
    mkdirSync(journal);
    const gone = spawnSync('true').pid;
    writeFileSync(join(journal, `process-${gone}-0123456789ab.json.new`), '{"own');
    writeFileSync(join(journal, `process-${process.pid}-0123456789ab.json.new`), '{"own');
    await cleanLeftovers(journal);
    expect(readdirSync(journal)).toEqual([`process-${process.pid}-0123456789ab.json.new`]);
  });

  it('a journal that is not there, or holds nonsense, does no harm', async () => {
    expect(await cleanLeftovers(join(scratch.root, 'none'))).toEqual({ pids: [], directories: [] });
    mkdirSync(journal);
    writeFileSync(join(journal, 'process-x.json'), '{"owner":');
    writeFileSync(join(journal, 'process-y.json'), '[]');
    writeFileSync(join(journal, 'other.json'), 'kept');
    expect(await cleanLeftovers(journal)).toEqual({ pids: [], directories: [] });
    expect(readdirSync(journal)).toEqual(['other.json']);
  });
});
