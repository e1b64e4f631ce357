import { scaleLinear } from 'd3-scale';
import { line } from 'd3-shape';
import { type Html, html } from '../../http/html.ts';

const width = 72;
const height = 28;
/** Keeps the line's edges from being clipped. */
const margin = 2;

/** A figure over time, scaled from its minimum to its maximum. */
export function sparkline(values: readonly number[]): Html {
  const x = scaleLinear([0, values.length - 1], [margin, width - margin]);
  const range = [Math.min(...values), Math.max(...values)];
  const y = scaleLinear(range, [height - margin, margin]);
  const path = line<number>((_, index) => x(index), y).digits(2);
  return html`<svg
    class="spark"
    viewBox="0 0 ${width} ${height}"
    width="${width}"
    height="${height}"
    aria-hidden="true"
  >
    <path d="${path(values) ?? ''}" />
  </svg>`;
}
