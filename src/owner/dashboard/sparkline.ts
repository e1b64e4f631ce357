import { scaleLinear } from 'd3-scale';
import { line } from 'd3-shape';
import { type Html, html } from '../../http/html.ts';

const width = 72;
const height = 28;
/** Half of the line's width, so that its edges are not cut off. */
const margin = 2;

/** The course of a figure, from its least to its greatest value; the chart has its axis. */
export function sparkline(values: readonly number[]): Html {
  const x = scaleLinear([0, values.length - 1], [margin, width - margin]);
  const range = [Math.min(...values), Math.max(...values)];
  const y = scaleLinear(range, [height - margin, margin]);
  const course = line<number>((_, index) => x(index), y).digits(2);
  return html`<svg
    class="spark"
    viewBox="0 0 ${width} ${height}"
    width="${width}"
    height="${height}"
    aria-hidden="true"
  >
    <path d="${course(values) ?? ''}" />
  </svg>`;
}
