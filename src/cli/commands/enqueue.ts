import { readFileSync } from 'node:fs';
import { text as readAll } from 'node:stream/consumers';
import type { Command } from 'commander';
import { ask } from '../../api/client.js';
import type { Config } from '../../config.js';
import { findHandler } from '../../drain/handler.js';
import { JobqError, systemReason } from '../../errors.js';
import { shownKind } from '../../job/text.js';
import { checkJson, JsonFault, RawJson } from '../../json.js';
import { connect } from '../connect.js';
import { readInvocation } from '../options.js';
import type { Output } from '../output.js';
import { parseCount, parseWhen, parseWhenThere } from '../when.js';

interface Flags {
  file?: string;
  runAfter?: string;
  maxAttempts?: string;
  count?: string;
}

/** `jobq-dev enqueue KIND [PAYLOAD]` */
export async function enqueue(
  kind: string,
  payload: string | undefined,
  command: Command,
): Promise<number> {
  const { config, output, flags } = readInvocation<Flags>(command);
  const body = {
    kind,
    payload: new RawJson(await readPayload(payload, flags.file)),
    ...(flags.maxAttempts && {
      max_attempts: parseCount(flags.maxAttempts, '--max-attempts', 1, 2_147_483_647),
    }),
    ...(flags.count && { count: parseCount(flags.count, '--count') }),
  };
  // A mistake is said before anything is opened.
  if (flags.runAfter !== undefined) parseWhen(flags.runAfter, '--run-after');
  const connection = await connect(config, 'jobq-dev enqueue');
  try {
    const { send } = connection;
    const run_after = flags.runAfter && (await parseWhenThere(send, flags.runAfter, '--run-after'));
    const { ids } = JSON.parse(await ask(send, 'POST', '/jobs', { ...body, run_after })) as {
      ids: string[];
    };
    output.document(flags.count === undefined ? { id: ids[0] } : { ids });
    const what =
      ids.length === 1
        ? `job ${ids[0]} ${shownKind(kind)} is in the table`
        : `${ids.length} jobs of kind ${shownKind(kind)} are in the table, ${ids[0]} to ${ids.at(-1)}`;
    const next =
      connection.emulator === undefined
        ? 'no emulator is running here: jobq-dev drain runs what is due'
        : 'the next tick claims what is due';
    output.line(`${what}; ${next}`);
    await warnWithoutHandler(config, kind, output);
    return 0;
  } finally {
    await connection.close();
  }
}

async function readPayload(argument: string | undefined, file: string | undefined) {
  if (argument !== undefined && file !== undefined) {
    throw new JobqError(
      'usage',
      'both PAYLOAD and --file are given',
      'Give the payload once: as an argument, with --file, or on stdin with "-".',
    );
  }
  const text =
    argument === '-' || file === '-'
      ? await readAll(process.stdin)
      : (argument ?? (file === undefined ? '{}' : readPayloadFile(file)));
  if (text.trim() === '') {
    throw new JobqError('input', 'the payload is empty', 'Leave it out for {}, or give JSON.');
  }
  try {
    checkJson(text);
  } catch (error) {
    if (!(error instanceof JsonFault)) throw error;
    throw new JobqError(
      'input',
      `the payload is not JSON: ${error.message}`,
      'Quote it for the shell, e.g. \'{"file":"a.png"}\', or put it into a file: --file payload.json.',
    );
  }
  return text;
}

function readPayloadFile(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new JobqError(
      'usage',
      `cannot read --file ${file}: ${systemReason(error)}`,
      'Give the path of a JSON file, or "-" for stdin.',
    );
  }
}

async function warnWithoutHandler(config: Config, kind: string, output: Output): Promise<void> {
  const handler = await findHandler(config.handlers, kind, config.interpreters);
  if ('reason' in handler) output.warn(handler.reason);
}
