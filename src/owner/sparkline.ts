import { type Html, html } from '../http/html.ts';

const width = 72;
const height = 28;
/** Half of the line's width, so that its edges are not cut off. */
const margin = 2;

/** The course of a figure, from its least to its greatest value; the chart has its axis. */
export function sparkline(values: readonly number[]): Html {
  const least = Math.min(...values);
  const range = Math.max(...values) - least;
  const points = values.map((value, index) => {
    const x = margin + (index / Math.max(values.length - 1, 1)) * (width - 2 * margin);
    const share = range === 0 ? 0 : (value - least) / range;
    return `${round(x)},${round(height - margin - share * (height - 2 * margin))}`;
  });
  return html`<svg
    class="spark"
    viewBox="0 0 ${width} ${height}"
    width="${width}"
    height="${height}"
    aria-hidden="true"
  >
    <polyline points="${points.join(' ')}" />
  </svg>`;
}

export function round(value: number): number {
  return Math.round(value * 100) / 100;
}
