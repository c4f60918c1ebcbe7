/**
 * PandaStack's REST API as far as it is used, with a sandbox of its own for each: bubblewrap over a
 * folder. It misbehaves on demand, in ways that were reported of such services.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

/** What becomes of the answer to a request; the work itself is done, unless it says otherwise. */
export type Misbehaviour =
  | 'drop' // the connection ends without an answer
  | { status: number; headers?: Record<string, string> }
  | { text: string }
  | { notDone: number }; // refused with this status, and not done

export interface Seen {
  method: string;
  path: string;
  body: string;
}

const FOLDERS = ['workspace', 'output', 'handlers', 'tmp'];
const SYSTEM = ['/usr', '/bin', '/sbin', '/lib', '/lib64', '/etc'];

export class FakeService {
  readonly key = 'a-key';
  readonly seen: Seen[] = [];
  readonly #root: string;
  readonly #server: Server;
  readonly #sandboxes = new Set<string>();
  #count = 0;
  /** Asked of each request. */
  misbehave: (seen: Seen) => Misbehaviour | undefined = () => undefined;

  private constructor(root: string) {
    this.#root = root;
    mkdirSync(root, { recursive: true });
    this.#server = createServer((request, response) => void this.#serve(request, response));
  }

  static async start(root: string): Promise<FakeService> {
    const fake = new FakeService(root);
    await new Promise<void>((resolve) => fake.#server.listen(0, '127.0.0.1', resolve));
    return fake;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Those that are there. */
  get sandboxes(): string[] {
    return [...this.#sandboxes];
  }

  /** The shell lines that were sent, those that match. */
  lines(pattern: RegExp): string[] {
    return this.seen
      .filter(({ path }) => path.endsWith('/exec'))
      .map(({ body }) => (JSON.parse(body) as { cmd: string }).cmd)
      .filter((line) => pattern.test(line));
  }

  /** As the service does with one that it takes for idle. */
  reap(id: string): void {
    this.#sandboxes.delete(id);
    const folder = join(this.#root, id);
    for (const pid of readdirSync('/proc').map(Number).filter(Boolean)) {
      if (isIn(pid, folder)) {
        try {
          process.kill(pid, 'SIGKILL');
        } catch {
          // it ended by itself
        }
      }
    }
    rmSync(folder, { recursive: true, force: true });
  }

  async close(): Promise<void> {
    for (const id of this.sandboxes) this.reap(id);
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const { pathname, searchParams } = new URL(request.url!, this.url);
    const isFile = request.method === 'PUT';
    const seen = {
      method: request.method!,
      path: pathname,
      body: isFile ? '' : body.toString(),
    };
    this.seen.push(seen);
    const answer = (status: number, value?: object): void => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(value === undefined ? '' : JSON.stringify(value));
    };
    if (request.headers.authorization !== `Bearer ${this.key}`) {
      return answer(401, { error: 'unauthorized' });
    }
    const fault = this.misbehave(seen);
    if (typeof fault === 'object' && 'notDone' in fault) return answer(fault.notDone);
    const [status, value] = await this.#do(seen, body, searchParams);
    if (fault === undefined) return answer(status, value);
    if (fault === 'drop') return void request.socket.destroy();
    if ('text' in fault) return void response.end(fault.text);
    response.writeHead(fault.status, fault.headers).end();
  }

  async #do(seen: Seen, body: Buffer, query: URLSearchParams): Promise<[number, object?]> {
    if (seen.method === 'POST' && seen.path === '/v1/sandboxes') {
      this.#count += 1;
      const id = `sbx-${this.#count}`;
      for (const name of FOLDERS) mkdirSync(join(this.#root, id, name), { recursive: true });
      this.#sandboxes.add(id);
      return [201, { id, status: 'running', boot_ms: 1 }];
    }
    const [, id = '', rest] = /^\/v1\/sandboxes\/([^/]+)\/?(.*)$/.exec(seen.path) ?? [];
    if (!this.#sandboxes.has(id)) return [404, { error: 'no such sandbox' }];
    if (seen.method === 'DELETE') {
      this.reap(id);
      return [204];
    }
    if (seen.method === 'PUT' && rest === 'fs') {
      if (body.length > 32 * 1024 ** 2) return [413];
      writeFileSync(join(this.#root, id, query.get('path')!), body);
      return [200, {}];
    }
    if (seen.method === 'POST' && rest === 'exec') {
      return [200, await this.#exec(id, (JSON.parse(seen.body) as { cmd: string }).cmd)];
    }
    return [404];
  }

  #exec(id: string, line: string): Promise<object> {
    const inSandbox = (name: string) => join(this.#root, id, name);
    const args = [
      ...SYSTEM.flatMap((folder) => ['--ro-bind-try', folder, folder]),
      ...['--dev', '/dev', '--bind', '/proc', '/proc'],
      ...FOLDERS.flatMap((name) => ['--bind', inSandbox(name), `/${name}`]),
      ...['sh', '-c', line],
    ];
    return new Promise((resolve) => {
      const child = spawn('/usr/bin/bwrap', args, { cwd: '/', stdio: ['ignore', 'pipe', 'pipe'] });
      const texts = { stdout: '', stderr: '' };
      child.stdout.on('data', (text) => {
        texts.stdout += text;
      });
      child.stderr.on('data', (text) => {
        texts.stderr += text;
      });
      child.once('close', (code) => resolve({ ...texts, exit_code: code ?? 137 }));
    });
  }
}

/** Whether a process sees a folder of this machine as one of its own. */
function isIn(pid: number, folder: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/mountinfo`, 'utf8').includes(`${folder}/workspace `);
  } catch {
    return false; // gone
  }
}
