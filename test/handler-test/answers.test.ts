import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { answerFor, readAnswers, responseOf } from '#src/handler-test/far-side/answers.js';
import { decide } from '#src/handler-test/far-side/far-side.js';
import { scratch } from '../support/cli.js';

async function answers(content: string) {
  const dir = scratch();
  mkdirSync(path.join(dir, 'deployment'));
  writeFileSync(path.join(dir, 'deployment/status.http.json'), content);
  return readAnswers(dir, 'deployment/status');
}

describe('the file of answers', () => {
  it('is looked up by method and URL, in order; a star stands for anything', async () => {
    const list = await answers(
      JSON.stringify([
        { method: 'post', url: 'https://a.test/x', status: 201 },
        { url: 'https://a.test/*', body: 'any' },
        { url: 'https://b.test/q?id=1', body: 'one' },
      ]),
    );
    const find = (method: string, url: string) => answerFor(list, { method, url });
    expect(find('POST', 'https://a.test/x?a=1#top')?.status).toBe(201);
    expect(find('GET', 'https://a.test/x')?.body).toBe('any');
    expect(find('GET', 'https://a.test/deep/er')?.body).toBe('any');
    expect(find('GET', 'https://axtest/x')).toBeUndefined();
    expect(find('GET', 'https://b.test/q?id=1')?.body).toBe('one');
    expect(find('GET', 'https://b.test/q?id=2')).toBeUndefined();
  });

  it('gives a body as it is, or JSON with its type', async () => {
    const [text, json] = await answers(
      '[{"url":"http://a.test/","body":"x"},{"url":"http://a.test/","json":{"a":[1]},"headers":{"x-y":"z"}}]',
    );
    expect(responseOf(text!)).toEqual({ status: 200, headers: {}, body: 'x' });
    expect(responseOf(json!)).toEqual({
      status: 200,
      headers: { 'content-type': 'application/json', 'x-y': 'z' },
      body: '{"a":[1]}',
    });
  });

  it('need not be there; a wrong one is refused with its place', async () => {
    expect(await readAnswers(scratch(), 'a')).toEqual([]);
    await expect(answers('[{}')).rejects.toThrow(/status\.http\.json:1:4: /);
    await expect(answers('[{"url":"https://a.test/"},{"url":"a.test"}]')).rejects.toThrow(
      'answer 2: url: must be absolute',
    );
    await expect(answers('[{"url":"https://a.test/","stauts":1}]')).rejects.toThrow('stauts');
    await expect(answers('[{"url":"https://a.test/","body":"","json":1}]')).rejects.toThrow(
      'body and json exclude each other',
    );
  });
});

describe('the far side', () => {
  const request = { method: 'GET', url: 'https://a.test/x?y=1', headers: {}, body: '' };

  it('refuses what is not listed, unless the network is allowed', () => {
    const refused = decide(request, { answers: [], allowNetwork: false });
    expect(refused).toMatchObject({
      answered: 'refused',
      reply: { how: 'answer', response: { status: 502 } },
    });
    expect(JSON.stringify(refused.reply)).toContain('GET https://a.test/x?y=1');
    expect(decide(request, { answers: [], allowNetwork: true })).toMatchObject({
      answered: 'passed on',
      reply: { how: 'pass' },
    });
  });

  it('fails only for the target that is to fail', () => {
    const disturbance = { target: 'GET https://a.test/x', how: 'hold' } as const;
    const farSide = { answers: [], allowNetwork: false, disturbance };
    expect(decide(request, farSide)).toMatchObject({ reply: 'hold', answered: 'held' });
    expect(decide({ ...request, method: 'POST' }, farSide)).toMatchObject({ answered: 'refused' });
  });
});
