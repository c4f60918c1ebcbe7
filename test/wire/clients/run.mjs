/**
 * `npm run wire:clients`: runs every client that is installed here against an emulator, and writes
 * the table of docs/wire.md. With --check it only says what has failed.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CLIENTS, runClient } from './clients.mjs';
import { STEPS } from './steps.mjs';

const CLI = fileURLToPath(new URL('../../../dist/src/cli.js', import.meta.url));
const DOC = fileURLToPath(new URL('../../../docs/wire.md', import.meta.url));

async function withEmulator(work) {
  const cwd = mkdtempSync(join(tmpdir(), 'jobq-clients-'));
  const emulator = spawn(process.execPath, [CLI, '--port', '0', '--cron', '0 0 1 1 *'], { cwd });
  try {
    const url = await new Promise((resolve, reject) => {
      let text = '';
      emulator.stdout.on('data', (chunk) => {
        text += chunk;
        const found = /postgres +(postgres:\S+)\n/.exec(text);
        if (found) resolve(found[1]);
      });
      emulator.on('close', () => reject(new Error(`the emulator ended: ${text}`)));
    });
    return await work(url);
  } finally {
    emulator.kill('SIGINT');
    await new Promise((resolve) => emulator.once('close', resolve));
    rmSync(cwd, { recursive: true, force: true });
  }
}

const found = await withEmulator(async (url) => {
  const rows = [];
  for (const client of CLIENTS) {
    const version = client.version();
    if (version === undefined) {
      console.log(`${client.name}: not installed here`);
      rows.push({ client });
      continue;
    }
    const failed = await runClient(client, url);
    for (const [step, why] of Object.entries(failed))
      console.log(`${client.name}: ${step}: ${why}`);
    if (Object.keys(failed).length === 0) console.log(`${client.name} ${version}: all of it`);
    rows.push({ client, version, failed });
  }
  return rows;
});

if (found.some(({ failed }) => failed && Object.keys(failed).length > 0)) process.exitCode = 1;
if (!process.argv.includes('--check')) {
  const names = Object.keys(STEPS);
  const own = ({ client }) => !Object.keys(client.steps).every((step) => step in STEPS);
  const rows = found
    .filter((row) => !own(row))
    .map(({ client, version, failed }) => [
      client.name,
      version ?? 'not installed',
      ...names.map((step) => cell(client, version, failed?.[step], step)),
    ]);
  const others = found.filter(own).map(({ client: { name, steps }, version, failed }) => {
    const passed = Object.keys(steps).filter((step) => version && failed[step] === undefined);
    const all = Object.values(steps).join(', ');
    return `\n${name} ${version ?? '(not installed)'}, ${passed.length} of ${Object.keys(steps).length}: ${all}.`;
  });
  const table = [...aligned([['client', 'version', ...names], ...rows]), ...others].join('\n');
  const doc = readFileSync(DOC, 'utf8');
  writeFileSync(
    DOC,
    doc.replace(
      /(<!-- clients -->\n)[\s\S]*?(\n<!-- \/clients -->)/,
      (_all, start, end) => `${start}\n${table}\n${end}`,
    ),
  );
}

function cell(client, version, failure, step) {
  if (!(step in client.steps)) return 'has none';
  if (version === undefined) return '';
  return failure === undefined ? 'yes' : 'no';
}

function aligned([head, ...rows]) {
  const widths = head.map((_, i) => Math.max(...[head, ...rows].map((cells) => cells[i].length)));
  const line = (cells, fill = ' ') =>
    `| ${cells.map((text, i) => text.padEnd(widths[i], fill)).join(' | ')} |`;
  return [
    line(head),
    line(
      head.map(() => ''),
      '-',
    ),
    ...rows.map((cells) => line(cells)),
  ];
}
