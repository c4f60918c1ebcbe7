const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s"{}[\],:]+/gs;

/**
 * JSON text over several lines. Only space between tokens changes: every digit and every escape
 * stays as it was written.
 * @param text valid JSON.
 */
export function prettyJson(text: string): string {
  const tokens = text.match(TOKEN) ?? [];
  let depth = 0;
  let pretty = '';
  const newLine = () => `\n${'  '.repeat(depth)}`;
  for (const [index, token] of tokens.entries()) {
    const next = tokens[index + 1];
    if (token === '{' || token === '[') {
      pretty += token;
      if (next === '}' || next === ']') continue;
      depth += 1;
      pretty += newLine();
    } else if (token === '}' || token === ']') {
      const before = tokens[index - 1];
      if (before !== '{' && before !== '[') {
        depth -= 1;
        pretty += newLine();
      }
      pretty += token;
    } else if (token === ',') {
      pretty += `,${newLine()}`;
    } else {
      pretty += token === ':' ? ': ' : token;
    }
  }
  return pretty;
}
