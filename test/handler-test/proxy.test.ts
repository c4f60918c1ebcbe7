/** Real clients through the recording proxy, fitted out as handlers are. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { proxyFitting } from '#src/handler-test/far-side/environment.js';
import {
  type Arrived,
  ProxyHouse,
  type RecordingProxy,
  type Reply,
} from '#src/handler-test/far-side/proxy.js';
import { scratchFolder } from '../support/cli.js';

const run = promisify(execFile);

const NODE = (source: string) => [process.execPath, '-e', source];
const GET = (name: string, url: string) =>
  NODE(
    `require('${name}').get('${url}', (r) => r.on('data', (d) => process.stdout.write(d)).on('error', () => process.exit(9))).on('error', (e) => { console.error(e.code); process.exit(9); })`,
  );

/** Clients that print what they get. */
const CLIENTS: Record<string, (url: string) => string[]> = {
  curl: (url) => ['/usr/bin/curl', '-sS', '--fail', url],
  'Python urllib': (url) => [
    '/usr/bin/python3',
    '-c',
    `import urllib.request as u; print(u.urlopen("${url}").read().decode(), end="")`,
  ],
  'Ruby Net::HTTP': (url) => [
    '/usr/bin/ruby',
    '-rnet/http',
    '-e',
    `print Net::HTTP.get(URI("${url}"))`,
  ],
  'node fetch': (url) =>
    NODE(`fetch('${url}').then((r) => r.text()).then((t) => process.stdout.write(t))`),
  'node http and https': (url) => GET(url.startsWith('https') ? 'https' : 'http', url),
  'an agent of a node library': (url) => {
    const name = url.startsWith('https') ? 'https' : 'http';
    return NODE(
      `const m = require('${name}'); m.get('${url}', { agent: new m.Agent({ keepAlive: true }) }, (r) => r.on('data', (d) => { process.stdout.write(d); process.exitCode = 0; }).on('end', () => process.exit()))`,
    );
  },
};

describe('the recording proxy', () => {
  const { dir, remove } = scratchFolder();
  const house = new ProxyHouse();
  let proxy: RecordingProxy;
  let env: Record<string, string>;
  let arrived: Arrived[] = [];

  beforeAll(async () => {
    proxy = await house.open();
    const fitting = proxyFitting(proxy.url, await house.certificate(), dir);
    for (const [name, text] of Object.entries(fitting.files)) {
      writeFileSync(path.join(dir, name), text);
    }
    env = { PATH: '/usr/bin:/bin', HOME: dir, ...fitting.env };
  });
  afterAll(async () => {
    await house.close();
    remove();
  });

  const serve = (reply: (request: Arrived) => Reply | Promise<Reply>) => {
    arrived = [];
    proxy.serve(async (request) => {
      arrived.push(request);
      return reply(request);
    });
  };
  const answer = (body: string): Reply => ({
    how: 'answer',
    response: { status: 200, headers: { 'content-type': 'text/plain' }, body },
  });
  const call = ([program, ...args]: string[], timeout = 30_000) =>
    run(program!, args, { env, timeout, cwd: dir });

  it.each(Object.entries(CLIENTS))('catches what %s asks for', async (_name, client) => {
    if (!existsSync(client('http://a.test/')[0]!)) return;
    serve(() => answer('the answer'));
    for (const url of ['https://api.example.test/x?y=1', 'http://api.example.test:8080/plain']) {
      expect((await call(client(url))).stdout, url).toBe('the answer');
    }
    expect(arrived.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'GET https://api.example.test/x?y=1',
      'GET http://api.example.test:8080/plain',
    ]);
  });

  it('is trusted by a node whose own options say which certificates it takes', async () => {
    serve(() => answer('the answer'));
    const options = '--use-bundled-ca';
    const fitting = proxyFitting(proxy.url, await house.certificate(), dir, options);
    const [program, ...args] = CLIENTS['node fetch']!('https://api.example.test/');
    const { stdout } = await run(program!, args, { env: { ...env, ...fitting.env }, cwd: dir });
    expect(stdout).toBe('the answer');
  });

  it('sees method, headers and body', async () => {
    serve(() => answer(''));
    await call(
      NODE(
        `fetch('https://a.test/', { method: 'POST', headers: { 'Idempotency-Key': 'k' }, body: 'é' })`,
      ),
    );
    expect(arrived).toMatchObject([
      { method: 'POST', body: 'é', headers: { 'idempotency-key': 'k' } },
    ]);
  });

  it('breaks off in the middle of a dripping answer, which no client takes for whole', async () => {
    const body = 'x'.repeat(100);
    serve(() => ({ how: 'drip', response: { status: 200, headers: {}, body } }));
    for (const client of [CLIENTS.curl!, CLIENTS['node fetch']!]) {
      await expect(call(client('https://a.test/'))).rejects.toThrow();
    }
    const { stdout } = (await call(CLIENTS.curl!('http://a.test/')).catch((error) => error)) as {
      stdout: string;
    };
    expect(stdout.length).toBeGreaterThan(0);
    expect(stdout.length).toBeLessThan(100);
  });

  it('holds a request until it serves nobody any more, then resets it', async () => {
    let held = () => {};
    const isHeld = new Promise<void>((resolve) => {
      held = resolve;
    });
    serve(() => {
      held();
      return new Promise(() => {});
    });
    const waiting = call(CLIENTS.curl!('https://a.test/'));
    waiting.catch(() => {});
    await isHeld;
    proxy.serve(undefined);
    await expect(waiting).rejects.toMatchObject({ code: 56 });
    await expect(call(CLIENTS.curl!('https://a.test/'))).rejects.toMatchObject({ code: 56 });
  });

  it('lets through what it is told to', async () => {
    const server = createServer((request, response) => response.end(`real ${request.url}`));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    try {
      serve(() => ({ how: 'pass' }));
      const { stdout } = await call(CLIENTS.curl!(`http://127.0.0.1:${port}/there`));
      expect(stdout).toBe('real /there');
    } finally {
      server.close();
    }
  });

  it('listens on this machine only', async () => {
    expect(proxy.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    const { stdout } = await run('/usr/bin/ss', ['-Hltn']);
    const port = new URL(proxy.url).port;
    const listening = stdout.split('\n').filter((line) => line.includes(`:${port} `));
    expect(listening.join('\n')).toMatch(/127\.0\.0\.1:\d+/);
    expect(listening).toHaveLength(1);
  });
});

describe('the process of the proxies', () => {
  const PROXIES = new URL('../../dist/src/handler-test/far-side/proxy.js', import.meta.url).href;

  it('ends with whoever started it, however that ends', async () => {
    const program = `
      const { ProxyHouse } = await import('${PROXIES}');
      const { url } = await new ProxyHouse().open();
      console.log(url);`;
    const owner = spawn(process.execPath, ['--input-type=module', '-e', program]);
    const [url] = (await once(owner.stdout, 'data')) as [Buffer];
    const { hostname, port } = new URL(url.toString().trim());
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    owner.kill('SIGKILL');
    // Its end is the kernel's to tell: there is nobody else who could close this.
    await once(socket, 'close');
  });

  it('is missed when it ends by itself', async () => {
    const house = new ProxyHouse();
    await house.open();
    const { stdout } = await run('pgrep', ['-n', '-P', String(process.pid), '-f', 'proxy-process']);
    process.kill(Number(stdout), 'SIGKILL');
    await expect(house.open()).rejects.toThrow('has ended by itself (SIGKILL)');
    await expect(house.certificate()).rejects.toThrow('has ended by itself');
    await house.close();
  });
});
