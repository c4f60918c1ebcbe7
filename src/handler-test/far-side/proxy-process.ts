/** The process of proxy.ts: mockttp, told from outside what to do with each request. */
import { createServer, Server } from 'node:net';
import { type CompletedRequest, generateCACertificate, getLocal } from 'mockttp';
import { LOOPBACK } from '../../loopback.js';
import type { CannedResponse } from './answers.js';
import type { Arrived, FromProxies, Reply, ToProxies } from './proxy.js';

/** How slowly a dripping answer comes, and for how long. */
const DRIP_EVERY_MS = 50;
const DRIP_FOR_MS = 1_000;

// Whoever started it is gone, however that came. Its servers would keep it alive.
process.once('disconnect', () => process.kill(process.pid, 'SIGKILL'));

// mockttp listens on every interface of the machine and has no option for another.
const listen = Server.prototype.listen;
Server.prototype.listen = function (this: Server, port?: unknown, ...rest: unknown[]) {
  const where = typeof port === 'number' && rest.length === 0 ? [port, LOOPBACK] : [port, ...rest];
  return (listen as (...given: unknown[]) => Server).apply(this, where);
};

const say = (message: FromProxies) => process.send!(message);
const replies = new Map<number, (reply: Reply) => void>();
let requests = 0;
let dripping: Promise<string> | undefined;
const drips = new Map<string, CannedResponse>();

const authority = await generateCACertificate({
  subject: { commonName: 'jobq-dev test, only for handlers under test' },
});

process.on('message', async (message: ToProxies) => {
  if (message.do === 'reply') {
    replies.get(message.request)?.(message.reply);
    replies.delete(message.request);
  } else {
    say({ said: 'opened', id: message.id, url: await open(message.id) });
  }
});
say({ said: 'ready', certificate: authority.cert });

async function open(proxy: number): Promise<string> {
  const server = getLocal({ https: authority, recordTraffic: false });
  await server.start(0);
  await server.forAnyRequest().thenPassThrough({
    // mockttp resends only what this lets through; everything else ends here.
    beforeRequest: async (request) => {
      const reply = await ask(proxy, request);
      if (reply.how === 'pass') return {};
      if (reply.how === 'reset') return { response: 'reset' };
      if (reply.how === 'drip') return { url: await dripUrl(reply.response) };
      const { status, headers, body } = reply.response;
      return { response: { statusCode: status, headers, body } };
    },
    simulateConnectionErrors: true,
  });
  return `http://${LOOPBACK}:${server.port}`;
}

async function ask(proxy: number, request: CompletedRequest): Promise<Reply> {
  const arrived: Arrived = {
    method: request.method,
    url: request.url,
    headers: Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [
        name.toLowerCase(),
        Array.isArray(value) ? value.join(', ') : (value ?? ''),
      ]),
    ),
    body: (await request.body.getText()) ?? '',
  };
  requests += 1;
  const number = requests;
  return new Promise((resolve) => {
    replies.set(number, resolve);
    say({ said: 'request', proxy, request: number, arrived });
  });
}

/** Where a request is sent on to that is to be answered byte by byte. */
async function dripUrl(response: CannedResponse): Promise<string> {
  dripping ??= startDripping();
  const id = String(++requests);
  drips.set(id, response);
  return `${await dripping}/${id}`;
}

/** A server that answers slowly and never to the end; node's own HTTP server cannot do so. */
function startDripping(): Promise<string> {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', (head) => {
      const id = /^\S+ \/(\S+)/.exec(head.toString('latin1'))?.[1] ?? '';
      const response = drips.get(id);
      drips.delete(id);
      if (response === undefined) socket.destroy();
      else drip(response);
    });
    const drip = ({ status, headers, body }: CannedResponse) => {
      const bytes = Buffer.from(body === '' ? ' ' : body);
      const fields = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
      socket.write(
        `HTTP/1.1 ${status} OK\r\n${fields.join('')}content-length: ${bytes.length + 1}\r\n\r\n`,
      );
      let sent = 0;
      const most = Math.min(bytes.length, DRIP_FOR_MS / DRIP_EVERY_MS);
      const timer = setInterval(() => {
        if (sent >= most || socket.destroyed) {
          clearInterval(timer);
          socket.resetAndDestroy();
        } else {
          socket.write(bytes.subarray(sent, sent + 1));
          sent += 1;
        }
      }, DRIP_EVERY_MS);
    };
  });
  return new Promise((resolve) => {
    server.listen(0, LOOPBACK, () => {
      const { port } = server.address() as { port: number };
      resolve(`http://${LOOPBACK}:${port}`);
    });
  });
}
