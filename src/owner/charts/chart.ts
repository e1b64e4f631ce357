import { scaleBand, scaleLinear } from 'd3-scale';
import { area, line } from 'd3-shape';
import { type Html, html } from '../../http/html.ts';
import { csvLink } from '../ui/listing.ts';

interface Series {
  readonly name: string;
  readonly tone: 'plain' | 'good' | 'bad';
  readonly values: readonly number[];
  /** The same for the period compared with, drawn dashed. */
  readonly before?: readonly number[] | undefined;
}

export interface Chart {
  /** Unique on the page. */
  readonly id: string;
  readonly title: string;
  /** The chart's answer for the whole period, and for the period before it if the shop has its data. */
  readonly headline: { readonly now: string; readonly before?: string | undefined };
  /** The time zone, and what else explains the chart. */
  readonly caption: string;
  readonly marks: 'line' | 'bars';
  readonly series: readonly Series[];
  /** Days or weeks; `short` is for the axis, the first and the last day as 2026-11-20 are for files. */
  readonly times: readonly Readonly<Record<'full' | 'short' | 'first' | 'last', string>>[];
  readonly timeHeading: string;
  /** Where each time leads: the rows that it counts. */
  readonly hrefs?: readonly string[];
  /** The time whose value is shown before one is selected. */
  readonly initial: 'first' | 'last';
  readonly format: (value: number) => string;
  /** For the axis. */
  readonly formatShort: (value: number) => string;
  /** The smallest step of the axis. */
  readonly unit: number;
  readonly isMoney: boolean;
}

const height = 100;
/** The approximate number of steps on the axis. */
const tickCount = 3;

/**
 * Renders a chart that works without scripts; a script adds the value under the pointer. Each time has a
 * band of width 1. CSS stretches the drawing to the page's width, but not the width of its lines.
 */
export function chart(parts: Chart, csv: `/app${string}`): Html {
  const { id, title, headline, caption, series, times, initial } = parts;
  const top = Math.max(...series.flatMap(({ values }) => values), 0);
  const y = scaleLinear([0, Math.max(top, parts.unit)], [height, 0]).nice(tickCount);
  const ticks = y.ticks(tickCount).filter((tick) => isWhole(tick / parts.unit));
  const selected = initial === 'first' ? 0 : times.length - 1;
  const dates = axisDates(times.length);
  return html`<figure class="chart" data-first="${selected}">
    <figcaption>
      <h3 id="${id}">${title}</h3>
      <p class="headline">
        <strong>${headline.now}</strong>
        ${headline.before && html`<span class="quiet">${headline.before}</span>`}
      </p>
      <p class="quiet">${caption}</p>
    </figcaption>
    <p class="readout">
      <span class="time">${times[selected]?.full}</span>
      ${series.map(
        ({ name, tone, values }) =>
          html`<span class="series ${tone}">
            ${series.length > 1 ? html`<span class="name">${name}</span>` : undefined}
            <b>${parts.format(values[selected] ?? 0)}</b>
          </span>`,
      )}
    </p>
    <div class="plot">
      <ol class="scale" aria-hidden="true">
        ${ticks.toReversed().map((tick) => html`<li>${parts.formatShort(tick)}</li>`)}
      </ol>
      <svg viewBox="0 0 ${times.length} ${height}" preserveAspectRatio="none" aria-hidden="true">
        ${ticks.map((tick) => html`<path class="rule" d="M0,${round(y(tick))}H${times.length}" />`)}
        ${parts.marks === 'line' ? series.map((each) => linePath(each, y)) : bars(series, y)}
        ${
          parts.marks === 'line'
            ? html`<line class="cursor" x1="0.5" x2="0.5" y1="0" y2="${height}" />`
            : html`<rect class="cursor" width="1" height="${height}" />`
        }
      </svg>
      <ol class="dates of-${dates.length}" aria-hidden="true">
        ${dates.map((index) => html`<li>${times[index]?.short}</li>`)}
      </ol>
    </div>
    <details>
      <summary>Table<span class="visually-hidden"> of ${title}</span></summary>
      <div class="scroll" tabindex="0" role="group" aria-labelledby="${id}">${table(parts)}</div>
      ${csvLink(csv)}
    </details>
  </figure>`;
}

/** Maps a value to its y coordinate. */
type Scale = (value: number) => number;

/** The middle of a time's band. */
const x = (_: number, index: number) => index + 0.5;

function linePath({ tone, values }: Series, y: Scale): Html {
  return html`<path
      class="${tone} area"
      d="${area<number>(x, height, y).digits(2)(values) ?? ''}"
    />
    <path class="${tone} line" d="${line<number>(x, y).digits(2)(values) ?? ''}" />`;
}

/** Bars side by side within each time's band. */
function bars(series: readonly Series[], y: Scale): Html[] {
  const times = series[0]?.values.map((_, index) => index) ?? [];
  const band = scaleBand(times, [0, times.length]).paddingInner(0.28).paddingOuter(0.14);
  const place = scaleBand(series, [0, band.bandwidth()]).paddingInner(0.06);
  return series.flatMap((each) =>
    each.values.flatMap((value, index) => {
      if (value <= 0) return [];
      const top = round(y(value));
      return [
        html`<rect
          class="${each.tone}"
          x="${round((band(index) ?? 0) + (place(each) ?? 0))}"
          width="${round(place.bandwidth())}"
          y="${top}"
          height="${round(height - top)}"
        />`,
      ];
    }),
  );
}

function table({ series, times, timeHeading, format }: Chart): Html {
  const rows = times.map(
    ({ full }, index) =>
      html`<tr>
        <th scope="row">${full}</th>
        ${series.map(({ values }) => html`<td>${format(values[index] ?? 0)}</td>`)}
      </tr>`,
  );
  return html`<table class="data">
    <thead>
      <tr>
        <th scope="col">${timeHeading}</th>
        ${series.map(({ name }) => html`<th scope="col">${name}</th>`)}
      </tr>
    </thead>
    <tbody>
      ${rows}
    </tbody>
  </table>`;
}

/** Whether a tick is a multiple of the smallest step, apart from floating-point error. */
function isWhole(steps: number): boolean {
  return Math.abs(steps - Math.round(steps)) < 1e-6;
}

/** Hundredths are finer than any screen. */
function round(value: number): number {
  return Math.round(value * 100) / 100;
}

/** Indexes of four to six evenly spaced dates. */
function axisDates(times: number): number[] {
  const count = [5, 4, 6].find((each) => times % each === 0) ?? 5;
  return Array.from({ length: count }, (_, index) => Math.floor((index * times) / count));
}
