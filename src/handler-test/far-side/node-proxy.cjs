/**
 * Loaded into node handlers under test (NODE_OPTIONS): sends what http, https and fetch ask for
 * through the recording proxy. Node honours HTTP_PROXY by itself only from 22.21 and 24.5 on, and
 * only when told to; this is the same on every version.
 *
 * Everything goes through a CONNECT tunnel, plain HTTP too. Kept small and lazy: it is part of each
 * node attempt's start. `http` costs 3 ms; TLS and fetch are loaded when the handler asks for them.
 */
'use strict';
const http = require('node:http');
const net = require('node:net');

const proxy = new URL(process.env.HTTP_PROXY);

/** Opens a tunnel. `done(error, socket)` */
function tunnel(host, port, done) {
  const authority = `${net.isIPv6(host) ? `[${host}]` : host}:${port}`;
  const socket = net.connect({ host: proxy.hostname, port: Number(proxy.port) });
  const fail = (error) => {
    socket.destroy();
    done(error);
  };
  let head = '';
  const onData = (chunk) => {
    head += chunk.toString('latin1');
    if (!head.includes('\r\n\r\n')) return;
    socket.off('data', onData).off('error', fail);
    if (/^HTTP\/1\.[01] 200/.test(head)) done(null, socket);
    else fail(new Error(`the proxy refused a tunnel to ${authority}`));
  };
  socket.on('data', onData).on('error', fail);
  socket.write(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n\r\n`);
}

function connect(secure, options, done) {
  const host = (options.hostname || options.host || 'localhost').replace(/^\[|\]$/g, '');
  tunnel(host, options.port || (secure ? 443 : 80), (error, socket) => {
    if (error || !secure) return done(error, socket);
    const tls = require('node:tls');
    const encrypted = tls.connect({
      ...options,
      socket,
      servername: options.servername || (net.isIP(host) ? '' : host),
      ALPNProtocols: options.ALPNProtocols || ['http/1.1'],
    });
    encrypted.once('error', done).once('secureConnect', () => {
      encrypted.off('error', done);
      done(null, encrypted);
    });
  });
}

// Every agent's sockets are made here, also https ones, and those of a library's own agents.
const createSocket = http.Agent.prototype.createSocket;
http.Agent.prototype.createSocket = function (request, options, done) {
  const secure = this.protocol === 'https:';
  if (!options.socketPath && !Object.hasOwn(this, 'createConnection')) {
    this.createConnection = (wanted, connected) => {
      connect(secure, wanted, connected);
    };
  }
  return createSocket.call(this, request, options, done);
};

// fetch keeps its sockets in a dispatcher of its own. Its class is known once it is loaded.
const fetch = globalThis.fetch;
let ready = false;
globalThis.fetch = (input, init) => {
  if (!ready) {
    ready = true;
    new Response();
    const name = Symbol.for('undici.globalDispatcher.1');
    const Agent = globalThis[name].constructor;
    globalThis[name] = new Agent({
      connect: (options, done) => connect(options.protocol === 'https:', options, done),
    });
  }
  return fetch(input, init);
};
