/** The emulator from the screen's side: what it asks for, over one way in or the other. */
import { ask, type JobWithAttempts, type Open, readJob, type Send } from '../src/api/client.js';
import type {
  Advanced,
  Examples,
  Explanation,
  JobAnswer,
  Overview,
  Relative,
  ReplayStarted,
  SandboxInUse,
} from '../src/api/contract.js';
import { RawJson } from '../src/json.js';

/** The API's client, in process or over HTTP. */
export interface Link {
  send: Send;
  open: Open;
}

export interface NewJob {
  kind: string;
  /** JSON text. */
  payload: string;
}

/** Each method throws a JobqError with what to do, or fails when the emulator is gone. */
export class Emulator {
  constructor(readonly link: Link) {}

  async #ask<Answer>(method: string, path: string, body?: unknown): Promise<Answer> {
    return JSON.parse(await ask(this.link.send, method, path, body)) as Answer;
  }

  overview(): Promise<Overview> {
    return this.#ask('GET', '/overview');
  }

  list(query: string): Promise<JobAnswer[]> {
    return this.#ask('GET', query);
  }

  async job(id: string): Promise<JobWithAttempts> {
    return readJob(await ask(this.link.send, 'GET', `/jobs/${id}`));
  }

  explain(id: string): Promise<Explanation> {
    return this.#ask('GET', `/jobs/${id}/explain`);
  }

  lineage(id: string): Promise<Relative[]> {
    return this.#ask('GET', `/jobs/${id}/lineage`);
  }

  drain(): Promise<Record<string, number>> {
    return this.#ask('POST', '/drain');
  }

  advance(to: { by: string } | { to: string }): Promise<Advanced> {
    return this.#ask('POST', '/advance', to);
  }

  retry(id: string): Promise<unknown> {
    return this.#ask('POST', `/jobs/${id}/retry`);
  }

  async retryAll(kind: string | undefined): Promise<number> {
    const body = kind === undefined ? {} : { kind };
    return (await this.#ask<{ retried: number }>('POST', '/jobs/retry', body)).retried;
  }

  cancel(id: string): Promise<unknown> {
    return this.#ask('POST', `/jobs/${id}/cancel`);
  }

  /** @returns the job that will run: the same, or an edited copy of one that is over. */
  async edit(id: string, changes: { payload?: string; run_after?: string }): Promise<string> {
    const body = {
      ...changes,
      ...(changes.payload !== undefined && { payload: new RawJson(changes.payload) }),
    };
    return (await this.#ask<JobAnswer>('PATCH', `/jobs/${id}`, body)).id;
  }

  async enqueue({ kind, payload }: NewJob): Promise<string> {
    const body = { kind, payload: new RawJson(payload) };
    return (await this.#ask<{ ids: string[] }>('POST', '/jobs', body)).ids[0]!;
  }

  replay(path: string, speed: number | undefined): Promise<ReplayStarted> {
    return this.#ask('POST', '/replay', { path, ...(speed !== undefined && { speed }) });
  }

  pause(paused: boolean): Promise<unknown> {
    return this.#ask('POST', paused ? '/pause' : '/resume');
  }

  swapSandbox(provider: string): Promise<SandboxInUse> {
    return this.#ask('POST', '/sandbox', { provider });
  }

  createExamples(): Promise<Examples> {
    return this.#ask('POST', '/examples');
  }
}
