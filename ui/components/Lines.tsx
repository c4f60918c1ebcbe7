import type { Block } from '../text/pieces.js';
import { Line } from './Line.js';

interface Props {
  lines: Block;
  width: number;
  /** Which of them is selected. */
  selected?: number;
}

/** Lines of the screen, one below the other. A line is its place: nothing is moved. */
export function Lines({ lines, width, selected }: Props) {
  return lines.map((pieces, index) => (
    <Line key={index} pieces={pieces} width={width} selected={index === selected} />
  ));
}
