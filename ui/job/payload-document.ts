import type { JobView } from '../store/state.js';
import { type Block, dim, type Piece, text } from '../text/pieces.js';
import { plain } from '../text/plain.js';
import { prettyJson } from '../text/pretty-json.js';
import { wrap } from '../text/wrap.js';

/** The payload over several lines, every digit as it is in the table. */
export function payloadDocument({ job }: JobView, width: number): Block {
  return prettyJson(job!.payload)
    .split('\n')
    .flatMap((line) => {
      const [, indent = '', key, rest = ''] = /^( *)("(?:[^"\\]|\\.)*")?(.*)$/s.exec(plain(line))!;
      const isKey = key !== undefined && rest.startsWith(':');
      const pieces = wrap(
        isKey ? rest : `${key ?? ''}${rest}`,
        width - 1 - indent.length - (isKey ? key.length : 0),
      );
      return pieces.map((piece, index): Piece[] => [
        text(` ${indent}`),
        ...(isKey ? [index === 0 ? text(key, 'info') : text(' '.repeat(key.length))] : []),
        /^[{}[\],]+$/.test(piece) ? dim(piece) : text(piece),
      ]);
    });
}
