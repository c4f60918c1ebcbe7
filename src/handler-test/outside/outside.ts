/**
 * The outside world of one job: what stays when an attempt is over, and what a second delivery
 * finds. Each has a directory of its own, so that any number can stand side by side.
 */
import { mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import type { OutsideState } from './differences.js';
import { readFiles } from './files.js';
import type { SentRequest } from './requests.js';
import type { Rows } from './rows.js';

/** Where a job's rows are. */
export interface OutsideDatabase {
  readonly url: string;
  rows(): Promise<Rows>;
  /** `onWrite` is called when a transaction that may have written is over. */
  watch(onWrite: () => void): void;
  /** From now on nothing that a client sends is run, until `unwatch`. */
  hold(): void;
  /** Resolves when no client is connected any more; what they wrote has been told by then. */
  unwatch(): Promise<void>;
}

const NO_ROWS: Rows = new Map();

export class Outside {
  /** `JOBQ_OUTPUT_DIR` of the job. */
  readonly outputDir: string;
  readonly requests: SentRequest[] = [];
  /** Workspaces of the attempts so far: fresh ones here, `/workspace` in production. */
  readonly #workspaces = new Set<string>();

  private constructor(
    /** Where attempts make output directories (`AttemptSettings.outputRoot`). */
    readonly outputRoot: string,
    readonly jobId: string,
    /** For DATABASE_URL, where one is to be had. */
    readonly database: OutsideDatabase | undefined,
    private giveBack: () => void,
  ) {
    this.outputDir = path.join(outputRoot, jobId);
  }

  /** @param giveBack is called, once, when the database is not needed any more. */
  static async make(
    outputRoot: string,
    jobId: string,
    database?: OutsideDatabase,
    giveBack: () => void = () => {},
  ): Promise<Outside> {
    const outside = new Outside(outputRoot, jobId, database, giveBack);
    await mkdir(outside.outputDir, { recursive: true });
    return outside;
  }

  noteWorkspace(workspace: string): void {
    this.#workspaces.add(workspace);
  }

  /** As it is now. Paths that only this machine has stand as production's. */
  async state(): Promise<OutsideState> {
    const files = await readFiles(this.outputDir);
    for (const [name, text] of files) files.set(name, this.neutral(text));
    const rows = this.database === undefined ? NO_ROWS : await this.database.rows();
    return { files, requests: [...this.requests], rows };
  }

  /** A text in which this attempt's own directories have the names that production gives them. */
  neutral(text: string): string {
    let neutral = text;
    for (const workspace of this.#workspaces) {
      neutral = neutral.replaceAll(workspace, '/workspace');
    }
    return neutral.replaceAll(this.outputDir, '/output');
  }

  /** Nothing is delivered here any more: the database is for others. Idempotent. */
  letGo(): void {
    this.giveBack();
    this.giveBack = () => {};
  }

  async remove(): Promise<void> {
    this.letGo();
    await rm(this.outputRoot, { recursive: true, force: true });
  }
}
