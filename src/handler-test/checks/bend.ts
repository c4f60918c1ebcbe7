/**
 * Bends a payload: takes a field away, makes it null, another type, empty, huge, deep, strange.
 * Seeded, so that the same seed bends the same way. Values that are not bent keep every digit,
 * which is why this is no library: those generate JavaScript values.
 */
import { createHash } from 'node:crypto';
import { members } from '../../json.js';

export interface Bend {
  /** `user.name is null` */
  name: string;
  /** JSON text. */
  payload: string;
}

/** JSON as its own texts, of which some are replaced. */
type Node =
  | { kind: 'object'; entries: [string, Node][] }
  | { kind: 'array'; items: Node[] }
  | { kind: 'scalar'; text: string };

/** A place in a payload that can be bent. */
interface Place {
  path: string[];
  node: Node;
  /** Whether it is an object's field, which can be missing. */
  isField: boolean;
}

const HUGE_CHARACTERS = 1024 ** 2;
const DEPTH = 500;
/** Deeper parts of a payload are left as they are. */
const DEEPEST_BENT = 6;
const STRANGE = JSON.stringify(
  '👩‍👩‍👧 שלום \u202e\u001b[31m\r\n\t日本語 & <b>"\'</b> `$(id)` %s \u200b',
);
const WHOLE = ['null', '{}', '[]', '"text"', '0'];

interface Way {
  name: string;
  fits: (place: Place) => boolean;
  /** What stands there then; `''` takes it away. */
  make: (node: Node) => string;
}

/** The first three are the most common in life. */
const WAYS: Way[] = [
  { name: 'missing', fits: ({ isField }) => isField, make: () => '' },
  { name: 'null', fits: ({ node }) => print(node) !== 'null', make: () => 'null' },
  { name: 'of another type', fits: () => true, make: otherType },
  { name: 'empty', fits: ({ node }) => node.kind !== 'scalar' || isText(node), make: empty },
  { name: 'huge', fits: ({ node }) => isText(node) || isNumber(node), make: huge },
  { name: 'deeply nested', fits: () => true, make: () => '['.repeat(DEPTH) + ']'.repeat(DEPTH) },
  { name: 'strange text', fits: ({ node }) => isText(node), make: () => STRANGE },
  { name: 'negative', fits: ({ node }) => isNumber(node), make: () => '-1' },
];

/** Bends a payload: all of it, then in every way that fits somewhere, then at other places. */
export function bends(payload: string, seed: string, count: number): Bend[] {
  const root = parse(payload, 0);
  const places = placesIn(root);
  const found = new Map<string, Bend>();
  const add = (name: string, text: string) => {
    if (text !== payload && !found.has(text)) found.set(text, { name, payload: text });
  };
  for (const [index, text] of WHOLE.entries()) {
    if (index < 2 || draw(seed, `whole ${index}`) < 0.3) add(`the payload is ${text}`, text);
  }
  for (let turn = 0; turn < 4 * count && found.size < count && places.length > 0; turn += 1) {
    const way = WAYS[turn < WAYS.length ? turn : turn % 3]!;
    const fitting = places.filter(way.fits);
    // Squared: what stands at the top is what a handler reads, and comes first.
    const place = fitting[Math.floor(draw(seed, `place ${turn}`) ** 2 * fitting.length)];
    if (place === undefined) continue;
    const text = print(replaced(root, place.path, way.make(place.node)));
    add(`${place.path.join('.')} is ${way.name}`, text);
  }
  return [...found.values()];
}

/** A number in [0, 1), the same for the same seed and purpose. */
function draw(seed: string, purpose: string): number {
  const hash = createHash('sha256').update(`${seed}\0${purpose}`).digest();
  return hash.readUIntBE(0, 6) / 2 ** 48;
}

function parse(text: string, depth: number): Node {
  const trimmed = text.trim();
  if (!/^[[{]/.test(trimmed) || depth > DEEPEST_BENT) return { kind: 'scalar', text: trimmed };
  const parts = [...members(trimmed)].map(
    ([key, member]) => [key, parse(member.text, depth + 1)] as [string, Node],
  );
  return trimmed.startsWith('{')
    ? { kind: 'object', entries: parts }
    : { kind: 'array', items: parts.map(([, node]) => node) };
}

function print(node: Node): string {
  if (node.kind === 'scalar') return node.text;
  if (node.kind === 'array') return `[${node.items.map(print).join(', ')}]`;
  return `{${node.entries.map(([key, value]) => `${JSON.stringify(key)}: ${print(value)}`).join(', ')}}`;
}

/** Breadth first: the outer ones come before the inner ones. */
function placesIn(root: Node): Place[] {
  const places: Place[] = [];
  let level: Place[] = [{ path: [], node: root, isField: false }];
  while (level.length > 0) {
    const next = level.flatMap(({ path, node }) => childrenOf(node, path));
    places.push(...next);
    level = next;
  }
  return places;
}

function childrenOf(node: Node, path: string[]): Place[] {
  if (node.kind === 'scalar') return [];
  if (node.kind === 'array') {
    // The items of a list are most often alike: the first stands for all.
    return node.items
      .slice(0, 1)
      .map((item) => ({ path: [...path, '0'], node: item, isField: false }));
  }
  return node.entries.map(([key, value]) => ({ path: [...path, key], node: value, isField: true }));
}

/** A copy with what stands at `path` replaced, or taken away when `text` is empty. */
function replaced(node: Node, path: readonly string[], text: string): Node {
  const [key, ...rest] = path;
  if (key === undefined) return { kind: 'scalar', text };
  if (node.kind === 'array') {
    return {
      kind: 'array',
      items: node.items.map((item, index) =>
        String(index) === key ? replaced(item, rest, text) : item,
      ),
    };
  }
  if (node.kind === 'scalar') return node;
  const entries = node.entries
    .filter(([name]) => !(name === key && rest.length === 0 && text === ''))
    .map(([name, value]): [string, Node] => [
      name,
      name === key ? replaced(value, rest, text) : value,
    ]);
  return { kind: 'object', entries };
}

function isText(node: Node): boolean {
  return node.kind === 'scalar' && node.text.startsWith('"');
}

function isNumber(node: Node): boolean {
  return node.kind === 'scalar' && /^[-\d]/.test(node.text);
}

function otherType(node: Node): string {
  if (isText(node)) return '12345';
  if (isNumber(node)) return '"twelve"';
  return node.kind === 'scalar' ? '{"a": 1}' : '"text"';
}

function empty(node: Node): string {
  if (node.kind === 'scalar') return '""';
  return node.kind === 'array' ? '[]' : '{}';
}

function huge(node: Node): string {
  return isText(node) ? `"${'x'.repeat(HUGE_CHARACTERS)}"` : `1${'0'.repeat(40)}`;
}
