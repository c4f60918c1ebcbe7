import { describe, expect, it } from 'vitest';
import { filterText, listQuery, parseFilter, withPage } from '#ui/store/list.js';
import { row, start } from '../states.js';

const { lists } = start();

describe('a list', () => {
  it('asks for its jobs, in their order, without payloads', () => {
    expect(listQuery('retries', lists.retries)).toBe(
      '/jobs?payload=false&limit=100&status=pending&attempted=true&order=next',
    );
    expect(listQuery('dead', lists.dead)).toBe('/jobs?payload=false&limit=100&status=dead');
    const filtered = {
      ...lists.all,
      filter: parseFilter('404 kind:a/b status:done'),
      limit: 5_000,
    };
    expect(listQuery('all', filtered)).toBe(
      '/jobs?payload=false&limit=1000&status=done&text=404&kind=a%2Fb',
    );
  });

  it('knows whether there is more than it has', () => {
    const two = { ...lists.all, limit: 2 };
    expect(withPage(two, [row('2'), row('1')]).more).toBe(true);
    expect(withPage(two, [row('1')]).more).toBe(false);
  });
});

describe('a filter', () => {
  it.each([
    ['', { text: '' }],
    ['  no such  account ', { text: 'no such account' }],
    ['kind:push status:dead x', { text: 'x', kind: 'push', status: 'dead' }],
    // What is no status is looked for as it is written.
    ['status:odd kind:', { text: 'status:odd kind:' }],
  ])('%j is read as %j', (typed, filter) => {
    expect(parseFilter(typed)).toEqual(filter);
    expect(parseFilter(filterText(parseFilter(typed)))).toEqual(filter);
  });
});
