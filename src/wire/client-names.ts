import { analyse } from './analyse.js';
import type { Analysis, Names } from './statement.js';

/**
 * What one client has named in the session: its prepared statements and its cursors that outlive
 * their transaction. In the engine they go by names that no two clients share.
 */

/** A prepared statement. It stays in memory, so that another life of the engine can have it again. */
export interface Prepared {
  engineName: string;
  analysis: Analysis;
  /** As a Parse message, or as a PREPARE statement. */
  source: { parse: Buffer } | { sql: string };
  /** The life of the engine that knows it. */
  life: object | undefined;
}

/** Names that the engine alone gives start like this; a client's own can hardly be one. */
const PREFIX = 'jobq_c';
/** In the text of an error. */
export const ENGINE_NAME = /jobq_c\d+_\d+/g;

export class ClientNames implements Names {
  readonly #prepared = new Map<string, Prepared>();
  /** Between PREPARE or DECLARE being sent and being done. */
  readonly #coming = new Map<string, string>();
  readonly #cursors = new Map<string, string>();
  #count = 0;

  /** The statement without a name; the engine has one for all clients. */
  unnamed: Prepared | undefined;

  readonly prefix: string;

  constructor(client: number) {
    this.prefix = `${PREFIX}${client}_`;
  }

  /** Whether there is anything for the engine to forget. */
  get empty(): boolean {
    return this.#prepared.size === 0 && this.#cursors.size === 0;
  }

  get(name: string): Prepared | undefined {
    return name === '' ? this.unnamed : this.#prepared.get(name);
  }

  /** @returns a function that undoes it. */
  set(name: string, prepared: Prepared | undefined): () => void {
    const before = this.get(name);
    this.#put(name, prepared);
    return () => this.#put(name, before);
  }

  /** Notes what a PREPARE statement has made. */
  keep(name: string, engineName: string, sql: string, life: object): void {
    const analysis = analyse('', this);
    this.#prepared.set(name, { engineName, analysis, source: { sql }, life });
  }

  /** @returns the statement, which goes by this name no more. */
  take(name: string): Prepared[] {
    const prepared = this.#prepared.get(name);
    this.#prepared.delete(name);
    return prepared === undefined ? [] : [prepared];
  }

  clear(): Prepared[] {
    const all = [...this.#prepared.values()];
    this.#prepared.clear();
    this.unnamed = undefined;
    return all;
  }

  prepared(name: string): string | undefined {
    return this.#prepared.get(name)?.engineName ?? this.#coming.get(`s ${name}`);
  }

  newPrepared(name: string): string {
    const engineName = this.#next();
    this.#coming.set(`s ${name}`, engineName);
    return engineName;
  }

  cursor(name: string): string | undefined {
    return this.#cursors.get(name) ?? this.#coming.get(`c ${name}`);
  }

  newCursor(name: string): string {
    const engineName = this.#cursors.get(name) ?? this.#next();
    this.#coming.set(`c ${name}`, engineName);
    return engineName;
  }

  declared(name: string, engineName: string): void {
    this.#cursors.set(name, engineName);
  }

  closed(name: string | undefined): void {
    if (name === undefined) this.#cursors.clear();
    else this.#cursors.delete(name);
  }

  get cursors(): readonly string[] {
    return [...this.#cursors.values()];
  }

  /** Forgets what was to come and did not. */
  settled(): void {
    if (this.#coming.size > 0) this.#coming.clear();
  }

  /** How the client calls what the engine calls `engineName`. */
  clientName(engineName: string): string {
    for (const [name, prepared] of this.#prepared) {
      if (prepared.engineName === engineName) return name;
    }
    for (const [name, known] of [...this.#cursors, ...this.#coming]) {
      if (known === engineName) return name.replace(/^[sc] /, '');
    }
    return engineName;
  }

  #put(name: string, prepared: Prepared | undefined): void {
    if (name === '') this.unnamed = prepared;
    else if (prepared === undefined) this.#prepared.delete(name);
    else this.#prepared.set(name, prepared);
  }

  #next(): string {
    this.#count += 1;
    return `${this.prefix}${this.#count}`;
  }
}
