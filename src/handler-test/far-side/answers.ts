/** `handlers/<kind>.http.json`: what the far side answers to a handler under test. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { JobqError, systemReason } from '../../errors.js';
import { checkJson, JsonFault } from '../../json.js';

const ANSWER = z
  .strictObject({
    /** Default: any method. */
    method: z.string().min(1).toUpperCase().optional(),
    /** Absolute; `*` stands for anything. Without a `?` in it, what stands behind one is ignored. */
    url: z.string().regex(/^https?:\/\//, 'must be absolute: "https://…"'),
    status: z.int().min(200).max(599).default(200),
    headers: z.record(z.string(), z.string()).default({}),
    body: z.string().optional(),
    /** In place of `body`; the content type is set. */
    json: z.unknown().optional(),
    /** A repeat without an idempotency key counts once. */
    idempotent: z.boolean().default(false),
    /** The handler may succeed without it. */
    optional: z.boolean().default(false),
  })
  .refine(({ body, json }) => body === undefined || json === undefined, {
    message: 'body and json exclude each other',
  });

export type Answer = z.output<typeof ANSWER>;

export function answersFile(handlersDir: string, kind: string): string {
  return path.join(handlersDir, `${kind}.http.json`);
}

/**
 * Reads the answers for a kind; none when there is no file.
 * @throws JobqError `input`, naming the file and what is wrong in it.
 */
export async function readAnswers(handlersDir: string, kind: string): Promise<Answer[]> {
  const file = answersFile(handlersDir, kind);
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw new JobqError('input', `cannot read ${file}: ${systemReason(error)}`);
  }
  try {
    checkJson(text);
  } catch (error) {
    if (!(error instanceof JsonFault)) throw error;
    throw refuse(`${file}:${error.line}:${error.column}: ${error.reason}`);
  }
  const parsed = z.array(ANSWER).safeParse(JSON.parse(text));
  if (parsed.success) return parsed.data;
  const { path: where, message } = parsed.error.issues[0]!;
  const [index, ...keys] = where;
  const place = index === undefined ? '' : `answer ${Number(index) + 1}: `;
  throw refuse(`${file}: ${place}${keys.length > 0 ? `${keys.join('.')}: ` : ''}${message}`);
}

function refuse(message: string): JobqError {
  return new JobqError(
    'input',
    message,
    'It is a list: [{"method":"POST","url":"https://…","status":201,"json":{…}}]; "headers", "body", "idempotent" and "optional" may be given too.',
  );
}

/** The first answer that fits. */
export function answerFor(
  answers: readonly Answer[],
  request: { method: string; url: string },
): Answer | undefined {
  return answers.find(
    ({ method, url }) =>
      (method === undefined || method === request.method) && fits(url, request.url),
  );
}

function fits(pattern: string, url: string): boolean {
  const plain = (text: string) => text.replace(/#.*$/s, '');
  const compared = pattern.includes('?') ? plain(url) : plain(url).replace(/\?.*$/s, '');
  const source = pattern
    .split('*')
    .map((part) => part.replace(/[\\^$.|?+()[\]{}]/g, '\\$&'))
    .join('.*');
  return new RegExp(`^${source}$`, 's').test(compared);
}

/** What is sent for it. */
export function responseOf(answer: Answer): CannedResponse {
  const json = answer.json !== undefined;
  return {
    status: answer.status,
    headers: { ...(json ? { 'content-type': 'application/json' } : {}), ...answer.headers },
    body: json ? JSON.stringify(answer.json) : (answer.body ?? ''),
  };
}

export interface CannedResponse {
  status: number;
  headers: Record<string, string>;
  body: string;
}
