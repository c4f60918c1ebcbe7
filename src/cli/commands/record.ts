import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import { ask, overHttp, readArrivals } from '../../api/client.js';
import type { Config } from '../../config.js';
import type { OwnerInfo } from '../../db/lock.js';
import { openDatabase } from '../../db/open.js';
import { JobqError } from '../../errors.js';
import { formatDuration } from '../../job/duration.js';
import { plural } from '../../job/text.js';
import { databaseOptions } from '../../open-world.js';
import { type Arrival, type ArrivalFilter, arrivals } from '../../queue/arrivals.js';
import { type Line, recordLines } from '../../record/record.js';
import { createRedactor } from '../../record/redact.js';
import { writeWhole } from '../../record/write-whole.js';
import { readInvocation } from '../options.js';
import { parsePast } from '../when.js';
import { whenFree } from '../when-free.js';

interface Flags {
  since?: string;
  until?: string;
  kind?: string[];
  redact?: string[];
  salt?: string;
  sample?: string;
  expect?: boolean;
  force?: boolean;
}

const PAGE = 1_000;

/** `jobq-dev record OUT`: jobs of a database as a fixture. Only reads from it. */
export async function record(file: string, command: Command): Promise<number> {
  const { config, output, flags } = readInvocation<Flags>(command);
  if (file === '-' && output.json) {
    throw new JobqError(
      'usage',
      'both "-" and --json are given, and stdout can hold one of them',
      'Name a file: jobq-dev record burst.jsonl --json.',
    );
  }
  if (file !== '-' && existsSync(file) && !flags.force) {
    throw new JobqError(
      'usage',
      `${file} is there already`,
      'Name another file, or say --force to write over it.',
    );
  }
  const salt = flags.salt ?? randomBytes(16).toString('hex');
  const redactor = createRedactor(flags.redact ?? [], salt);
  const filter = {
    since: flags.since === undefined ? undefined : parsePast(flags.since, '--since'),
    until: flags.until === undefined ? undefined : parsePast(flags.until, '--until'),
    kinds: flags.kind,
  };
  const sample = parseShare(flags.sample ?? '1');
  const told = { kinds: new Map<string, number>(), lastsMs: 0 };
  await whenFree(config, async (owner) => {
    await withSource(config, owner, (readPage) => {
      const pages = pagesOf(readPage, filter);
      const options = { redactor, sample, salt, withExpect: flags.expect ?? false };
      return writeWhole(file, counted(recordLines(pages, options), told));
    });
  });
  const { kinds, lastsMs } = told;
  for (const rule of redactor.unused()) {
    output.warn(`--redact ${JSON.stringify(rule)} met nothing: is it spelt as in the payloads?`);
  }
  const jobs = [...kinds.values()].reduce((sum, count) => sum + count, 0);
  output.document({
    file,
    jobs,
    lasts_ms: lastsMs,
    redacted: redactor.count,
    kinds: Object.fromEntries(kinds),
  });
  const say = file === '-' ? output.note.bind(output) : output.line.bind(output);
  say(
    jobs === 0
      ? 'no job matches: the fixture is empty'
      : `${plural(jobs, 'job')} of ${plural(kinds.size, 'kind')} over ${formatDuration(lastsMs)}, ${plural(redactor.count, 'value')} redacted: ${file === '-' ? 'stdout' : file}`,
  );
  return 0;
}

/** The lines' texts; what they hold is told meanwhile. */
async function* counted(
  lines: AsyncIterable<Line>,
  told: { kinds: Map<string, number>; lastsMs: number },
): AsyncGenerator<string> {
  for await (const { kind, atMs, text } of lines) {
    told.kinds.set(kind, (told.kinds.get(kind) ?? 0) + 1);
    told.lastsMs = atMs;
    yield `${text}\n`;
  }
}

type ReadPage = (filter: ArrivalFilter) => Promise<readonly Arrival[]>;

/** The running emulator, or the database itself; nothing is migrated: the source is only read. */
async function withSource(
  config: Config,
  owner: OwnerInfo | undefined,
  work: (readPage: ReadPage) => Promise<void>,
): Promise<void> {
  if (owner?.url !== undefined) {
    const send = overHttp(owner.url);
    return work(async (filter) => readArrivals(await ask(send, 'GET', pathOf(filter))));
  }
  const { db, lock } = await openDatabase(databaseOptions(config, 'jobq-dev record'));
  try {
    await work((filter) => arrivals(db, filter));
  } finally {
    await db.close();
    lock?.release();
  }
}

function pathOf({ after, since, until, kinds = [], limit }: ArrivalFilter): string {
  const query = new URLSearchParams({ limit: String(limit) });
  if (after !== undefined) query.set('after', after);
  if (since !== undefined) query.set('since', since.toISOString());
  if (until !== undefined) query.set('until', until.toISOString());
  for (const kind of kinds) query.append('kind', kind);
  return `/arrivals?${query}`;
}

async function* pagesOf(
  readPage: ReadPage,
  filter: Omit<ArrivalFilter, 'after' | 'limit'>,
): AsyncGenerator<readonly Arrival[]> {
  let after: string | undefined;
  for (;;) {
    const page = await readPage({ ...filter, after, limit: PAGE });
    yield page;
    if (page.length < PAGE) return;
    after = page.at(-1)!.id;
  }
}

function parseShare(text: string): number {
  const share = Number(text);
  if (/^\d*\.?\d+$/.test(text) && share > 0 && share <= 1) return share;
  throw new JobqError(
    'usage',
    `--sample is ${JSON.stringify(text)}: it must be a share above 0 and up to 1`,
    'For example --sample 0.1 keeps about a tenth of the jobs.',
  );
}
