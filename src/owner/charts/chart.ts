import { type Html, type HtmlValue, html } from '../../http/html.ts';
import { csvLink } from '../framework/csv.ts';
import { type Plot, type Series, type Value, drawing } from './drawing.ts';

export interface Chart extends Plot {
  /** Unique on the page. */
  readonly id: string;
  readonly title: string;
  /** The chart's answer for the whole period, and for the period before it if the shop has its data. */
  readonly headline: { readonly now: string; readonly before?: string | undefined };
  /** The time zone, and what else explains the chart. */
  readonly caption: string;
  readonly timeHeading: string;
  /** The time that is selected first with the keyboard. */
  readonly initial: 'first' | 'last';
  readonly format: (value: number) => string;
  readonly isMoney: boolean;
}

/** A chart that works without scripts; a script adds the values at the pointer and for the arrow keys. */
export function chart(parts: Chart, csv: `/app${string}`): Html {
  const { id, title, headline, caption, series, initial, times } = parts;
  const { plot, beginsAboveZero } = drawing(parts);
  return html`<figure class="chart" data-first="${initial === 'first' ? 0 : times.length - 1}">
    <figcaption>
      <h3 id="${id}"><small>${title}</small> <span class="headline">${headline.now}</span></h3>
      ${headline.before && html`<p class="quiet">${headline.before}</p>`}
      <p class="quiet">${caption}${beginsAboveZero ? '. The axis begins above zero' : undefined}</p>
    </figcaption>
    ${legend(series)} ${plot}
    <details>
      <summary>Table<span class="visually-hidden"> of ${title}</span></summary>
      <div class="scroll" tabindex="0" role="group" aria-labelledby="${id}">${table(parts)}</div>
      ${csvLink(csv)}
    </details>
  </figure>`;
}

/** Which series is which, if there are several or a period compared with. */
function legend(series: readonly Series[]): Html | undefined {
  const hasBefore = series.some(({ before }) => before !== undefined);
  if (series.length === 1 && !hasBefore) return undefined;
  return html`<p class="legend">
    ${series.map(({ name, tone }) => html`<span class="series ${tone}">${name}</span>`)}
    ${hasBefore ? html`<span class="series before">Before</span>` : undefined}
  </p>`;
}

/** How a value is written; one that cannot be known differs from 0. */
function show(value: Value | undefined, format: Chart['format']): string {
  return value === null || value === undefined ? '–' : format(value);
}

/** The columns of a chart's table, after those of the times. */
export function columnsOf(series: Chart['series']): Pick<Series, 'name' | 'values' | 'hrefs'>[] {
  return [
    ...series,
    ...series.flatMap(({ name, before }) =>
      before ? [{ name: `${name}, before`, values: before }] : [],
    ),
  ];
}

/** A cell of a time or value that may lead to its rows. */
function link(href: string | undefined, text: string): HtmlValue {
  return href === undefined ? text : html`<a href="${href}">${text}</a>`;
}

function table({ series, times, timeHeading, hrefs, format }: Chart): Html {
  const columns = columnsOf(series);
  const rows = times.map(
    ({ full }, index) =>
      html`<tr>
        <th scope="row">${link(hrefs?.[index], full)}</th>
        ${columns.map(
          (each) => html`<td>${link(each.hrefs?.[index], show(each.values[index], format))}</td>`,
        )}
      </tr>`,
  );
  return html`<table class="data">
    <thead>
      <tr>
        <th scope="col">${timeHeading}</th>
        ${columns.map(({ name }) => html`<th scope="col">${name}</th>`)}
      </tr>
    </thead>
    <tbody>
      ${rows}
    </tbody>
  </table>`;
}
