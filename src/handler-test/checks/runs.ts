/** `runs`: the job comes to the end that its case expects. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describeOutcome } from '../../job/outcome.js';
import { head, headline, plural, visible } from '../../job/text.js';
import type { TestCase } from '../cases.js';
import { type Delivery, deliver, type OutsideEvent } from '../deliver.js';
import type { FarSide } from '../far-side/far-side.js';
import type { Lab } from '../lab.js';
import { textDiff } from '../outside/differences.js';
import { type SentRequest, target } from '../outside/requests.js';
import type { Baseline, CheckOutcome, Finding } from './check.js';

/** Delivers a case once, undisturbed. The outside world stays for the checks that go on from it. */
export async function deliverFirst(
  lab: Lab,
  testCase: TestCase,
  farSide: FarSide,
  jobId: string,
): Promise<Baseline> {
  const outside = await lab.outside(jobId);
  const delivery = await deliver(lab, testCase, outside, { farSide, watchFiles: true });
  return {
    delivery,
    outside,
    state: await outside.state(),
    touched: await readTouched(outside.outputDir, delivery.events),
  };
}

/** The bytes of what was seen to be touched and is still there. */
async function readTouched(dir: string, events: readonly OutsideEvent[]) {
  const touched = new Map<string, Buffer>();
  for (const event of events) {
    if (event.what !== 'file' || touched.has(event.name)) continue;
    const bytes = await readFile(path.join(dir, event.name)).catch(() => undefined);
    if (bytes !== undefined) touched.set(event.name, bytes);
  }
  return touched;
}

/**
 * @param shellNames variables that the developer's shell has and the handler does not get: the most
 *   common reason why a handler runs for them and not in production.
 */
export function judge(
  testCase: TestCase,
  { delivery, state }: Baseline,
  shellNames: readonly string[],
): CheckOutcome {
  return {
    findings: [
      ...unlisted(testCase.kind, state.requests),
      ...end(testCase, delivery, shellNames),
      ...texts(testCase, delivery),
    ],
    notes: delivery.results.map((result, index) => {
      const memory =
        result.peakMemoryBytes === undefined
          ? ''
          : `, ${Math.ceil(result.peakMemoryBytes / 1024 ** 2)} MiB`;
      return `attempt ${index + 1}: ${describeOutcome(result.outcome)}, ${Math.round(result.durationMs)} ms${memory}`;
    }),
  };
}

function unlisted(kind: string, requests: readonly SentRequest[]): Finding[] {
  const refused = requests.filter(({ answered }) => answered === 'refused');
  const firsts = new Map(refused.map((request) => [target(request), request]));
  return [...firsts].map(([what, { method, url }]) => ({
    fault: 'unlisted-request',
    message: `it asks for ${visible(what)}, and no answer is listed for that: add one to the list in ${visible(kind)}.http.json beside the handler, or let it through with --allow-network`,
    diff: JSON.stringify({ method, url: url.replace(/[?#].*$/s, ''), status: 200, json: {} }),
  }));
}

function end(
  { expect }: TestCase,
  { status, attempts, last }: Delivery,
  shellNames: readonly string[],
): Finding[] {
  const wanted = expect?.status ?? 'done';
  const counted = expect?.attempts ?? attempts;
  if (status === wanted && counted === attempts) return [];
  const expected =
    status !== wanted && expect?.status === undefined
      ? ''
      : `; expected ${wanted}${expect?.attempts === undefined ? '' : ` after ${plural(counted, 'attempt')}`}`;
  const error = last.error === null ? '' : `: ${visible(headline(last.error))}`;
  const missing = shellNames.find((name) => new RegExp(`\\b${name}\\b`).test(last.error ?? ''));
  const hint =
    missing === undefined
      ? ''
      : `. ${missing} is set in your shell, and handlers do not get it: if production has it, name it under "env" in jobq.config.json`;
  // No script for it, or no sandbox.
  if (last.sandboxStartMs === undefined && last.outcome.kind !== 'signaled') {
    return [{ fault: 'not-started', message: `it cannot be started${expected}${error}` }];
  }
  const byForce = last.memoryExceeded || last.outcome.kind === 'signaled';
  return [
    {
      fault: byForce && status !== wanted ? 'signal' : 'other-end',
      message: `${status} after ${plural(attempts, 'attempt')}${expected}${error}${hint}`,
      ...(last.error?.includes('\n') ? { diff: visibleEnd(last.error) } : {}),
    },
  ];
}

/** The end of an error of several lines. */
function visibleEnd(error: string): string {
  return error.split('\n').slice(-12).map(visible).join('\n');
}

function texts({ expect }: TestCase, { last, status }: Delivery): Finding[] {
  if (expect?.status !== undefined && expect.status !== status) return [];
  const found: Finding[] = [];
  const compare = (name: string, wanted: string | undefined, text: string) => {
    if (wanted === undefined || text.includes(wanted)) return;
    found.push({
      fault: 'other-text',
      message: `${name} does not contain ${JSON.stringify(head(wanted, 80))}`,
      diff: textDiff(name, `${wanted}\n`, text),
    });
  };
  compare('stdout', expect?.stdout, last.stdout.text);
  compare('the error', expect?.error, last.error ?? '');
  return found;
}
