import { type Html, html } from '../http/html.ts';
import { round } from './sparkline.ts';

interface Series {
  readonly name: string;
  /** Its colour. */
  readonly tone: 'plain' | 'good' | 'bad';
  readonly values: readonly number[];
}

export interface Chart {
  /** Unique on the page. */
  readonly id: string;
  readonly title: string;
  /** Whose time, and what else must be known to read it. */
  readonly caption: string;
  readonly marks: 'line' | 'bars';
  readonly series: readonly Series[];
  /** Days or weeks, in full and, for the axis, in short. */
  readonly times: readonly { readonly full: string; readonly short: string }[];
  readonly timeHeading: string;
  /** Which time is told before one is chosen. */
  readonly shows: 'first' | 'last';
  readonly write: (value: number) => string;
  /** For the axis. */
  readonly writeShort: (value: number) => string;
  /** The least step of the axis. */
  readonly unit: number;
}

const height = 100;

/**
 * A chart that is complete as it is sent; a script adds the value under the pointer. Each time has a
 * band of width 1. Stretching the drawing to the page's width leaves lines as thin as they are.
 */
export function chart(parts: Chart): Html {
  const { id, title, caption, series, times, shows } = parts;
  const top = Math.max(...series.flatMap(({ values }) => values), 0);
  const ticks = ticksOf(top, parts.unit);
  const scale = ticks.at(-1) as number;
  const told = shows === 'first' ? 0 : times.length - 1;
  const dates = axisDates(times.length);
  return html`<figure class="chart" data-first="${told}">
    <figcaption>
      <h3 id="${id}">${title}</h3>
      <p class="quiet">${caption}</p>
    </figcaption>
    <p class="told">
      <span class="time">${times[told]?.full}</span>
      ${series.map(
        ({ name, tone, values }) =>
          html`<span class="series ${tone}">
            ${series.length > 1 ? html`<span class="name">${name}</span>` : undefined}
            <b>${parts.write(values[told] ?? 0)}</b>
          </span>`,
      )}
    </p>
    <div class="plot">
      <ol class="scale" aria-hidden="true">
        ${ticks.toReversed().map((tick) => html`<li>${parts.writeShort(tick)}</li>`)}
      </ol>
      <svg viewBox="0 0 ${times.length} ${height}" preserveAspectRatio="none" aria-hidden="true">
        ${ticks.map((tick) => {
          const y = round(height - (tick / scale) * height);
          return html`<line class="rule" x1="0" x2="${times.length}" y1="${y}" y2="${y}" />`;
        })}
        ${parts.marks === 'line' ? series.map((each) => line(each, scale)) : bars(series, scale)}
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
      <summary>Table<span class="unseen"> of ${title}</span></summary>
      <div class="scroll" tabindex="0" role="group" aria-labelledby="${id}">${table(parts)}</div>
    </details>
  </figure>`;
}

function line({ tone, values }: Series, scale: number): Html {
  const points = values.map(
    (value, index) => `${index + 0.5},${round(height - (value / scale) * height)}`,
  );
  const area = [`0.5,${height}`, ...points, `${values.length - 0.5},${height}`];
  return html`<polygon class="${tone}" points="${area.join(' ')}" />
    <polyline class="${tone}" points="${points.join(' ')}" />`;
}

/** Side by side within the band of their time. */
function bars(series: readonly Series[], scale: number): Html[] {
  const width = 0.72 / series.length;
  return series.flatMap(({ tone, values }, place) =>
    values.flatMap((value, index) => {
      if (value <= 0) return [];
      const tall = round((value / scale) * height);
      return [
        html`<rect
          class="${tone}"
          x="${round(index + 0.14 + place * width)}"
          width="${round(width * 0.94)}"
          y="${round(height - tall)}"
          height="${tall}"
        />`,
      ];
    }),
  );
}

function table({ series, times, timeHeading, write }: Chart): Html {
  const rows = times.map(
    ({ full }, index) =>
      html`<tr>
        <th scope="row">${full}</th>
        ${series.map(({ values }) => html`<td>${write(values[index] ?? 0)}</td>`)}
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

/** From 0, in three to five equal steps of a round size. */
function ticksOf(top: number, unit: number): number[] {
  const least = Math.max(top / 4, unit);
  const power = 10 ** Math.floor(Math.log10(least));
  const step = [1, 2, 2.5, 5, 10]
    .map((factor) => factor * power)
    .find((each) => each >= least * 0.999_999 && Number.isInteger(round(each / unit))) as number;
  const count = Math.max(Math.ceil(top / step - 1e-9), 1);
  return Array.from({ length: count + 1 }, (_, index) => index * step);
}

/** The beginnings of four to six stretches of equal length. */
function axisDates(times: number): number[] {
  const count = [5, 4, 6].find((each) => times % each === 0) ?? 5;
  return Array.from({ length: count }, (_, index) => Math.floor((index * times) / count));
}
