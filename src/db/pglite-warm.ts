/**
 * Workers of the engine. Compiling its 10 MB of WebAssembly is most of a start, and needs to know
 * nothing: `warmUp` begins it before the command line has been read, in the worker's own thread.
 */
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import type { Start } from './pglite-worker.js';

let warm: { worker: Worker; port: MessagePort } | undefined;

/** Starts a worker ahead of need; the next `newWorker` gets it. It does not keep a process alive. */
export function warmUp(): void {
  const { port1, port2 } = new MessageChannel();
  const worker = spawn({ startPort: port2 }, [port2]);
  worker.unref();
  warm = { worker, port: port1 };
}

/** A worker that opens what `start` says, and answers there. */
export function newWorker(start: Start): Worker {
  if (warm === undefined) return spawn(start, [start.port]);
  const { worker, port } = warm;
  warm = undefined;
  worker.ref();
  port.postMessage(start, [start.port]);
  port.close();
  return worker;
}

function spawn(workerData: object, transferList: MessagePort[]): Worker {
  return new Worker(new URL('./pglite-worker.js', import.meta.url), {
    workerData,
    transferList,
    // The parent's flags (loaders, inspectors) are of no use here and cost start-up time.
    execArgv: [],
    // The engine reads no environment of ours.
    env: {},
  });
}
