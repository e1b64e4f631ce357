import { scaleLinear } from 'd3-scale';
import { line } from 'd3-shape';
import { type Html, html } from '../../http/html.ts';

const width = 100;
const height = 100;
/** Keeps the line's edges from being clipped. */
const margin = 4;

/**
 * A figure over time, scaled from its minimum to its maximum; CSS sets its size.
 * @param before the same for the period compared with, drawn dashed
 */
export function sparkline(values: readonly number[], before: readonly number[] = []): Html {
  const all = [...values, ...before];
  const y = scaleLinear([Math.min(...all), Math.max(...all)], [height - margin, margin]);
  const path = (each: readonly number[]) => {
    const x = scaleLinear([0, each.length - 1], [0, width]);
    return line<number>((_, index) => x(index), y).digits(2)(each) ?? '';
  };
  return html`<svg
    class="spark"
    viewBox="0 0 ${width} ${height}"
    preserveAspectRatio="none"
    aria-hidden="true"
  >
    ${before.length > 0 ? html`<path class="before" d="${path(before)}" />` : undefined}
    <path d="${path(values)}" />
  </svg>`;
}
