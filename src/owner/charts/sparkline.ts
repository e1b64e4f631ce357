import { scaleLinear } from 'd3-scale';
import { type Html, html } from '../../http/html.ts';

const height = 100;
/** Keeps the line's edges from being clipped. */
const margin = 4;

/**
 * A figure over time, scaled from its minimum to its maximum; CSS sets its size.
 * @param before the same for the period compared with, drawn dashed, if a script shows the values
 */
export function sparkline(values: readonly number[], before?: readonly number[]): Html {
  const all = [...values, ...(before ?? [])];
  const y = scaleLinear([Math.min(...all), Math.max(...all)], [height - margin, margin]);
  // Each point from the one before, which is shortest.
  const path = (of: readonly number[]) => {
    const points = of.map((value) => Math.round(y(value)));
    const steps = points.map((point, index) => `${index && 1},${point - (points[index - 1] ?? 0)}`);
    return `m${steps.join(' ').replaceAll(',-', '-')}`;
  };
  return html`<svg
    class="spark ${before && 'marks'}"
    viewBox="-.5 0 ${values.length} ${height}"
    preserveAspectRatio="none"
    aria-hidden="true"
  >
    ${before?.[0] !== undefined && html`<path class="before" d="${path(before)}" />`}
    <path d="${path(values)}" />
    ${before && html`<line class="cursor" y2="${height}" />`}
  </svg>`;
}
