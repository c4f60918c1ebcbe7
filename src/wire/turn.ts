import type { RawSession } from '../db/raw-session.js';
import { SAID } from '../db/session-functions.js';
import { Account } from './account.js';
import { type Again, MustCollect, MustWait } from './again.js';
import { Answer, type Step } from './answer.js';
import type { Client } from './client.js';
import type { Prepared } from './client-names.js';
import { type CopyData, collect, columnsOf, copyFail } from './copy-in.js';
import { applyEffect, closeStatements } from './effects.js';
import { ForClient, SILENT } from './for-client.js';
import { frame, Q } from './frames.js';
import { findHidden } from './functions-watch.js';
import { copyInResponse, errorResponse, readyForQuery, type Status } from './messages.js';
import { COPY_TOO_LARGE, SEQUENCES_LOST } from './reports.js';
import { type Analysis, type CopyIn, type Effect, resets } from './statement.js';
import { readTimeouts } from './timeouts.js';
import { type Context, type Translation, translate } from './translate.js';
import { FLUSH, onlyPrepares, SYNC, type Unit } from './units.js';

/** What a turn asks of whoever runs it. */
export interface Host {
  /** Waits for the client, while nobody else can have the session. */
  whileIdle<T>(wait: () => Promise<T>): Promise<T>;
  /** Passes over the rest of a pipeline. */
  skipToSync(): void;
}

/** An answer that is larger goes out as it comes, and cannot be taken back. */
const KEPT_BYTES = 256 * 1024;

/** One client's turn: a statement of its own, or a transaction from its beginning to its end. */
export class Turn implements Context {
  status: Status = 'I';
  ownsUnnamed = false;
  readonly portals = new Map<string, Prepared>();
  readonly names;
  #inPipeline = false;
  readonly #account: Account;
  readonly #effects: Effect[] = [];
  readonly #forClient: ForClient;

  constructor(
    readonly raw: RawSession,
    private readonly client: Client,
    private readonly host: Host,
  ) {
    this.names = client.names;
    this.#account = new Account(client);
    this.#forClient = new ForClient(client);
  }

  get life(): object {
    return this.raw.life;
  }

  get inTransaction(): boolean {
    return this.status !== 'I';
  }

  get over(): boolean {
    return this.status === 'I' && !this.#inPipeline;
  }

  /** Repeats what the client has the answers of. */
  async repeat(texts: readonly string[]): Promise<void> {
    for (const sql of texts) {
      const answer = new Answer([], SILENT);
      answer.push(await this.raw.send(frame(Q.Query, sql)));
      this.status = answer.status!;
      this.#account.log?.push(sql);
    }
  }

  /**
   * Runs what a client has sent and gives it the answer.
   * @throws MustWait, MustCollect
   */
  async perform({ unit, data }: Omit<Again, 'before'>): Promise<void> {
    if (!this.#inPipeline && unit.kind === 'extended' && unit.frames[0]!.type === Q.Sync) {
      this.client.connection.write(readyForQuery(this.status));
      return;
    }
    const translation = translate(unit, this);
    await this.#provide(translation);
    this.#forClient.resets = translation.analyses.some(({ statements }) => statements.some(resets));
    if (translation.copyIn !== undefined) {
      await this.#copyIn(unit, translation, translation.copyIn, data);
    } else if (!this.#inPipeline && !this.inTransaction && onlyPrepares(unit)) {
      await this.#prepare(unit, translation);
    } else {
      await this.#exchange(unit, translation, translation.bytes, translation.steps, unit.open);
    }
    if (!this.#inPipeline) await this.#settle();
  }

  /** The engine ended over the last unit, and is open again, in a transaction that has failed or in none. */
  engineLost(status: 'I' | 'E'): void {
    this.status = status;
    this.#inPipeline = false;
    this.#account.log = status === 'I' ? [] : undefined;
    this.ownsUnnamed = false;
    this.portals.clear();
  }

  /** Called when the turn is over, and the transaction with it. */
  async end(): Promise<void> {
    const { client, raw } = this;
    const account = this.#account;
    const { shared } = client;
    // What is open of a transaction is given up before anything else is asked.
    await raw.end();
    shared.tenancy.turnOver();
    if (raw.dead === undefined) {
      if (account.functionsChanged) shared.hidden = await findHidden(raw);
      if (account.timeoutsMentioned) client.timeouts = await readTimeouts(raw, client.timeouts);
      await closeStatements(raw, client.garbage.splice(0));
    }
    if (account.wrote) shared.onWrite();
  }

  /** What the functions in src/db/session-functions.ts need for these statements. */
  async #provide({ analyses, executes }: Translation): Promise<void> {
    const { client, raw } = this;
    // A statement of ours would end the transaction that a pipeline is.
    if (this.#inPipeline) return;
    const { hidden, tenancy } = client.shared;
    await tenancy.provide(
      raw,
      {
        identity: hidden.identity || analyses.some(({ identity }) => identity),
        sequences: hidden.sequences || analyses.some(({ sequences }) => sequences),
      },
      this.status,
    );
    for (const prepared of executes) {
      if (prepared.life === raw.life) continue;
      if ('sql' in prepared.source) await raw.send(frame(Q.Query, prepared.source.sql));
      else await raw.send(Buffer.concat([prepared.source.parse, SYNC.bytes]));
      prepared.life = raw.life;
    }
  }

  /** The beginning of a pipeline that has run nothing yet: nobody need wait for the rest of it. */
  async #prepare(unit: Unit, translation: Translation): Promise<void> {
    const bytes = [...translation.bytes, SYNC.bytes];
    const answer = await this.#exchange(unit, translation, bytes, translation.steps, false, {
      noReady: true,
    });
    if (answer.error !== undefined) this.host.skipToSync();
  }

  async #copyIn(
    unit: Unit,
    translation: Translation,
    { copy, execute, step }: NonNullable<Translation['copyIn']>,
    given: CopyData | undefined,
  ): Promise<void> {
    const simple = unit.kind === 'query';
    if (!simple && translation.bytes.length > 0) {
      const before = [...translation.bytes, FLUSH.bytes];
      const answer = await this.#exchange(unit, translation, before, translation.steps, true);
      if (answer.error !== undefined) {
        // The rest of the pipeline is passed over, up to the Sync that may be in it.
        if (!unit.open) await this.#exchange(unit, translation, [SYNC.bytes], [], false);
        return;
      }
    }
    const steps = simple ? translation.steps : [step];
    const data = given ?? (await this.#copyData(copy, simple && this.status === 'I'));
    if (data === undefined) return;
    if (data.tooLarge) steps.at(-1)!.refusal = errorResponse(COPY_TOO_LARGE);
    if (simple) {
      await this.#exchange(unit, translation, [execute, ...data.bytes], steps, false, {
        hadCopyIn: data.began,
      });
      return;
    }
    // A Sync that the client has sent before its data counts only if there is no COPY.
    const open = data.began || unit.open;
    const bytes = [execute, ...data.bytes, open ? FLUSH.bytes : SYNC.bytes];
    await this.#exchange(unit, translation, bytes, steps, open, { hadCopyIn: data.began });
  }

  /** @returns undefined when the client is gone. */
  async #copyData({ binary, columns, ...copy }: CopyIn, alone: boolean) {
    const { connection } = this.client;
    const count =
      this.status === 'E'
        ? undefined
        : await columnsOf(this.raw, { columns, ...copy }, this.#inPipeline);
    if (count === undefined) {
      // The engine says what is wrong.
      return { bytes: [copyFail('there is nothing to copy into')], tooLarge: false, began: false };
    }
    connection.write(copyInResponse(binary, count));
    if (alone) throw new MustCollect();
    return this.host.whileIdle(() => collect(connection));
  }

  async #exchange(
    unit: Unit,
    translation: Translation,
    bytes: readonly Buffer[],
    steps: readonly Step[],
    open: boolean,
    had: { hadCopyIn?: boolean; noReady?: boolean } = {},
  ): Promise<Answer> {
    const { client } = this;
    const locksBefore = new Map(client.state.locks);
    const answer = new Answer(steps, this.#forClient, had);
    let taken = false;
    const onPart = (part: Uint8Array) => {
      answer.push(part);
      if (answer.outBytes < KEPT_BYTES) return;
      taken = true;
      client.connection.write(...answer.take());
    };
    try {
      const wasInPipeline = this.#inPipeline;
      this.#inPipeline = open;
      answer.push(await client.send(this.raw, Buffer.concat(bytes), { open, onPart }));
      if (!open) this.status = answer.status!;
      const key = this.#wanted(answer, { taken, wasInPipeline, open });
      if (key !== undefined) {
        const again = { before: this.#account.log!, unit };
        this.#retract(steps, locksBefore);
        throw new MustWait(key, again);
      }
    } finally {
      answer.end();
      this.names.settled();
    }
    client.connection.write(...answer.take());
    this.#account.note(answer, translation, open ? undefined : this.status);
    return answer;
  }

  /** The lock to wait for, if all of this can be repeated when it is free. */
  #wanted(
    answer: Answer,
    { taken, wasInPipeline, open }: { taken: boolean; wasInPipeline: boolean; open: boolean },
  ): string | undefined {
    if (answer.sqlstate !== SAID.held || taken || wasInPipeline || open) return undefined;
    const ended = answer.tags.some((tag) => tag === 'COMMIT' || tag === 'ROLLBACK');
    return ended || this.#account.log === undefined ? undefined : answer.error!.get('M');
  }

  /** Takes back what was done before the statement that must wait. */
  #retract(steps: readonly Step[], locksBefore: Map<string, number>): void {
    for (const step of [...steps].reverse()) step.retract?.();
    this.#effects.length = 0;
    this.client.takeBackLocks(locksBefore);
  }

  /** Does what needs statements of our own, when no pipeline is under way. */
  async #settle(): Promise<void> {
    const { client, raw } = this;
    const account = this.#account;
    for (const effect of this.#effects.splice(0)) await applyEffect(effect, raw, client);
    if (account.timeoutsMentioned && this.status !== 'E')
      client.timeouts = await readTimeouts(raw, client.timeouts);
  }

  done(effect: Effect): void {
    if (!this.client.applyAtOnce(effect, this.raw.life)) this.#effects.push(effect);
  }

  drop(engineName: string): void {
    this.client.garbage.push(engineName);
  }

  refuse(analysis: Analysis) {
    const lost = analysis.sequences && this.client.state.sequencesLost;
    return lost ? SEQUENCES_LOST : undefined;
  }
}
