import { analyse } from './analyse.js';
import type { Step } from './answer.js';
import type { ClientNames, Prepared } from './client-names.js';
import { type Frame, frame, Q, readText } from './frames.js';
import { errorResponse, type Report } from './messages.js';
import { TWO_COPIES } from './reports.js';
import type { Analysis, CopyIn, Effect } from './statement.js';
import type { Unit } from './units.js';

/** A unit of a client's messages as the engine is to get it. */
export interface Translation {
  bytes: Buffer[];
  steps: Step[];
  /** Of the statements that it may run. */
  analyses: Analysis[];
  /** Statements that are executed by name and must be there. */
  executes: Prepared[];
  /** Of the statement that comes after all this; the rest of the unit is dropped, as in a server. */
  copyIn?: { copy: CopyIn; execute: Buffer; step: Step };
  /** As text, when that is all there is to it: what a repetition sends. */
  sql: string[] | undefined;
}

export interface Context {
  names: ClientNames;
  /** Which statement each portal runs; theirs is the turn. */
  portals: Map<string, Prepared>;
  /** The engine's life in this turn. */
  life: object;
  /** Whether the engine's statement without a name is this client's. */
  ownsUnnamed: boolean;
  inTransaction: boolean;
  /** Why the client may not have this statement now. */
  refuse(analysis: Analysis): Report | undefined;
  /** The engine is to forget a statement. */
  drop(engineName: string): void;
  done(effect: Effect): void;
}

/** Refused by the engine as a syntax error, wherever it comes; the client reads why. */
const REFUSED = 'jobq_refused';

export function translate(unit: Unit, context: Context): Translation {
  const result: Translation = { bytes: [], steps: [], analyses: [], executes: [], sql: [] };
  if (unit.kind === 'function') {
    result.bytes.push(unit.frames[0]!.bytes);
    result.sql = undefined;
  } else if (unit.kind === 'query') {
    translateQuery(unit.frames[0]!, context, result);
  } else {
    for (const part of unit.frames) {
      translateExtended(part, context, result);
      if (result.copyIn !== undefined) break;
    }
  }
  return result;
}

function translateQuery({ bytes }: Frame, context: Context, result: Translation): void {
  const sql = readText(bytes, 5)?.text;
  // The engine says what is wrong with it.
  if (sql === undefined) {
    result.bytes.push(bytes);
    return;
  }
  // A simple query does away with the statement that has no name.
  context.names.unnamed = undefined;
  context.ownsUnnamed = false;
  const analysis = analyse(sql, context.names);
  result.analyses.push(analysis);
  result.sql?.push(analysis.sql);
  addExecuted(analysis, context, result);
  const copies = analysis.statements.filter(({ copyIn }) => copyIn !== undefined);
  const refusal =
    analysis.refusal ?? context.refuse(analysis) ?? (copies.length > 1 ? TWO_COPIES : undefined);
  if (refusal !== undefined) {
    result.bytes.push(frame(Q.Query, REFUSED));
    result.steps.push({ ends: 'statement', refusal: errorResponse(refusal) });
    return;
  }
  if (analysis.discardsAll && (context.inTransaction || analysis.statements.length > 1)) {
    // The engine says that it may not be.
    result.bytes.push(bytes);
    return;
  }
  const sent = analysis.sql === sql ? bytes : frame(Q.Query, analysis.sql);
  const copy = copies[0]?.copyIn;
  if (copy === undefined) result.bytes.push(sent);
  else result.copyIn = { copy, execute: sent, step: { ends: 'statement' } };
  for (const { effect, tag, countsAs } of analysis.statements) {
    result.steps.push({
      ends: 'statement',
      tag,
      countsAs,
      done: effect && (() => context.done(effect)),
    });
  }
}

const EXTENDED: Record<number, (part: Frame, context: Context, result: Translation) => void> = {
  [Q.Parse]: parse,
  [Q.Bind]: bind,
  [Q.Describe]: describeOrClose,
  [Q.Close]: describeOrClose,
  [Q.Execute]: execute,
};

function translateExtended(part: Frame, context: Context, result: Translation): void {
  const translatePart = EXTENDED[part.type];
  if (translatePart === undefined) result.bytes.push(part.bytes);
  else translatePart(part, context, result);
}

function parse({ bytes }: Frame, context: Context, result: Translation): void {
  const name = readText(bytes, 5);
  const sql = name && readText(bytes, name.end);
  if (name === undefined || sql === undefined) {
    malformed('parse', bytes, result);
    return;
  }
  const { names } = context;
  const analysis = analyse(sql.text, names);
  const types = bytes.subarray(sql.end);
  const taken = name.text === '' ? undefined : names.get(name.text);
  const engineName = taken?.engineName ?? (name.text === '' ? '' : names.newPrepared(name.text));
  const refusal = analysis.refusal ?? context.refuse(analysis);
  const sent = frame(Q.Parse, engineName, refusal === undefined ? analysis.sql : REFUSED, types);
  result.bytes.push(sent);
  // The engine says that the name is taken.
  if (taken !== undefined) {
    result.steps.push({ ends: 'parse' });
    return;
  }
  const prepared: Prepared = {
    engineName,
    analysis,
    source: { parse: sent },
    life: context.life,
  };
  const restore = names.set(name.text, prepared);
  if (name.text === '') context.ownsUnnamed = true;
  result.steps.push({
    ends: 'parse',
    // Of the statement without a name nothing is left when the next one fails.
    undo: name.text === '' ? () => loseUnnamed(context) : restore,
    retract: () => {
      restore();
      if (engineName !== '') context.drop(engineName);
    },
    refusal: refusal && errorResponse(refusal),
  });
}

function bind({ bytes }: Frame, context: Context, result: Translation): void {
  const portal = readText(bytes, 5);
  const name = portal && readText(bytes, portal.end);
  if (portal === undefined || name === undefined) {
    malformed('bind', bytes, result);
    return;
  }
  const prepared = known(name.text, context, result);
  if (prepared !== undefined) {
    context.portals.set(portal.text, prepared);
    addExecuted(prepared.analysis, context, result);
  }
  const parameters = bytes.subarray(name.end);
  // Three counts of zero: no formats, no parameters, no formats of results.
  if (!parameters.subarray(0, 4).equals(Buffer.alloc(4))) result.sql = undefined;
  result.bytes.push(
    frame(
      Q.Bind,
      context.names.cursor(portal.text) ?? portal.text,
      prepared?.engineName ?? name.text,
      parameters,
    ),
  );
  result.steps.push({ ends: 'bind' });
}

function describeOrClose({ type, bytes }: Frame, context: Context, result: Translation): void {
  const ends = type === Q.Describe ? 'describe' : 'close';
  const name = readText(bytes, 6);
  if (name === undefined) {
    malformed(ends, bytes, result);
    return;
  }
  const what = bytes[5];
  if (what !== STATEMENT) {
    const engineName = context.names.cursor(name.text);
    result.bytes.push(
      engineName === undefined ? bytes : frame(type, Buffer.from([what!]), engineName),
    );
    result.steps.push({ ends });
    return;
  }
  const closing = ends === 'close';
  const prepared = closing ? context.names.get(name.text) : known(name.text, context, result);
  result.bytes.push(frame(type, Buffer.from([STATEMENT]), prepared?.engineName ?? name.text));
  const undo = closing && prepared ? context.names.set(name.text, undefined) : undefined;
  result.steps.push({ ends, undo });
}

const STATEMENT = 0x53;

function execute({ bytes }: Frame, context: Context, result: Translation): void {
  const portal = readText(bytes, 5);
  if (portal === undefined) {
    malformed('execute', bytes, result);
    return;
  }
  const engineName = context.names.cursor(portal.text);
  const sent =
    engineName === undefined ? bytes : frame(Q.Execute, engineName, bytes.subarray(portal.end));
  const analysis = context.portals.get(portal.text)?.analysis;
  const [statement] = analysis?.statements ?? [];
  const effect = statement?.effect;
  const step: Step = {
    ends: 'execute',
    tag: statement?.tag,
    countsAs: statement?.countsAs,
    done: effect && (() => context.done(effect)),
  };
  if (analysis === undefined) result.sql = undefined;
  else {
    result.analyses.push(analysis);
    result.sql?.push(analysis.sql);
  }
  if (statement?.copyIn !== undefined) {
    result.copyIn = { copy: statement.copyIn, execute: sent, step };
    return;
  }
  result.bytes.push(sent);
  result.steps.push(step);
}

/** The statement of that name, which the engine knows when it comes to it. */
function known(name: string, context: Context, result: Translation): Prepared | undefined {
  const prepared = context.names.get(name);
  if (prepared === undefined) return undefined;
  const there = name === '' ? context.ownsUnnamed : prepared.life === context.life;
  if (there) return prepared;
  if ('parse' in prepared.source) {
    result.bytes.push(prepared.source.parse);
    prepared.life = context.life;
    if (name === '') context.ownsUnnamed = true;
    result.steps.push({
      ends: 'parse',
      ours: true,
      undo: () => {
        prepared.life = undefined;
        if (name === '') loseUnnamed(context);
      },
    });
  } else {
    result.executes.push(prepared);
  }
  return prepared;
}

function loseUnnamed(context: Context): void {
  context.names.unnamed = undefined;
  context.ownsUnnamed = false;
}

function addExecuted(analysis: Analysis, { names }: Context, result: Translation): void {
  for (const name of analysis.executes) {
    const prepared = names.get(name);
    if (prepared !== undefined) result.executes.push(prepared);
  }
}

/** The engine says what is wrong with it. */
function malformed(ends: Step['ends'], bytes: Buffer, result: Translation): void {
  result.bytes.push(bytes);
  result.steps.push({ ends });
}
