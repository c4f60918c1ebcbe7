/** Sends files of this machine into the guest. */
import { createReadStream, lstatSync, readdirSync, readlinkSync, type Stats } from 'node:fs';
import { asBytes, bytePath } from '../byte-path.js';
import type { Agent } from './agent.js';

/** Where a file goes: the workspace, the handlers directory, the output directory. */
export type Root = 'w' | 'h' | 'o';

const PIECE_BYTES = 65_536;

export async function sendFile(
  agent: Agent,
  root: Root,
  path: string,
  data: string | Uint8Array,
): Promise<void> {
  await sendHeader(agent, [root, 'f', String(0o600), '0', asBytes(path), '']);
  const bytes = typeof data === 'string' ? Buffer.from(data) : data;
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    await agent.send('D', bytes.subarray(at, at + PIECE_BYTES));
  }
}

export interface TreeOptions {
  /** Asked for the path, relative and as bytes (see byte-path.ts), of everything. */
  leaveOut?: (path: string) => boolean;
  /** What of it was sent before; grows. Unchanged files are not sent again. */
  sent?: Map<string, string>;
}

/** Sends what is in a folder; files are read as they are sent. Sockets and devices are left out. */
export async function sendTree(
  agent: Agent,
  root: Root,
  folder: string,
  { leaveOut = () => false, sent = new Map() }: TreeOptions = {},
): Promise<void> {
  const top = asBytes(folder);
  async function send(inner: string): Promise<void> {
    const names = readdirSync(bytePath(top, inner), { encoding: 'latin1' });
    for (const name of names) {
      const path = inner === '' ? name : `${inner}/${name}`;
      if (leaveOut(path)) continue;
      const file = bytePath(top, path);
      const stats = lstatSync(file, { throwIfNoEntry: false });
      if (stats === undefined) continue;
      const isNew = sent.get(path) !== stamp(stats);
      sent.set(path, stamp(stats));
      const header = (type: string, target = '') =>
        sendHeader(agent, [root, type, mode(stats), mtime(stats), path, target]);
      if (stats.isDirectory()) {
        if (isNew) await header('d');
        await send(path);
      } else if (stats.isSymbolicLink()) {
        if (isNew) await header('l', readlinkSync(file, { encoding: 'latin1' }));
      } else if (stats.isFile() && isNew) {
        await header('f');
        for await (const piece of createReadStream(file, { highWaterMark: PIECE_BYTES })) {
          await agent.send('D', piece as Buffer);
        }
      }
    }
  }
  await send('');
}

function sendHeader(agent: Agent, fields: string[]): Promise<void> {
  return agent.send('F', Buffer.from(fields.join('\0'), 'latin1'));
}

function stamp(stats: Stats): string {
  return `${stats.mode} ${stats.size} ${stats.isDirectory() ? '' : stats.mtimeMs} ${stats.ino}`;
}

function mode(stats: Stats): string {
  return String(stats.mode & 0o7777);
}

function mtime(stats: Stats): string {
  return String(Math.floor(stats.mtimeMs / 1000));
}
