import type { Path } from '../site.ts';
import { scaleLinear } from 'd3-scale';
import { type Html, type HtmlValue, html } from '../../http/html.ts';
import type { Shop } from '../../store/shops.ts';
import { type Chart, type Series, chart, columnsOf, tenth } from '../charts/chart.ts';
import { type Cell, csvLink } from './csv.ts';
import { type TableColumn as AnyColumn, plainTable } from '../ui/table.ts';

/** A chart or a table of a page, which is also a file. */
export interface Exhibit {
  /** Names it in the address of the file. */
  readonly id: string;
  /** @param csv the address of the file */
  show(csv: Path): Html;
  file(): File;
}

interface File {
  /** What it has, in the name of the file. */
  readonly noun: string;
  readonly heads: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
}

/** A chart, whose file has its table. */
export function chartExhibit(
  { currency }: Pick<Shop, 'currency'>,
  parts: Chart,
  around?: Parameters<typeof chart>[2],
): Exhibit {
  const { id, series, times, notes, isMoney } = parts;
  const columns = columnsOf(series);
  return {
    id,
    show: (csv) => chart(parts, csv, around),
    file: () => ({
      noun: id,
      heads: [
        'First day (UTC)',
        'Last day (UTC)',
        ...columns.map(({ name }) => name),
        ...(isMoney ? ['Currency'] : []),
        ...(notes ? ['Noted'] : []),
      ],
      rows: times.map(({ first, last }, index) => [
        first,
        last,
        ...columns.map(({ values }) => values[index] ?? null),
        ...(isMoney ? [currency] : []),
        ...(notes ? [notes[index] ?? null] : []),
      ]),
    }),
  };
}

interface TableColumn<Row> {
  /** Empty for a column of bars. */
  readonly label: string;
  /** The colour of the series that it is of. */
  readonly tone?: Series['tone'];
  readonly kind?: AnyColumn<never>[2];
  /** Absent if only the file has it. */
  readonly cell?: (row: Row) => HtmlValue;
  /** Where its rows are, if there are some. */
  readonly href?: (row: Row) => Path | undefined;
  /** They are where the head of the row leads, with these parameters: a script makes the links. */
  readonly sets?: Readonly<Record<string, string>>;
  /** Its columns of the file, by their heads. */
  readonly file?: Readonly<Record<string, (row: Row) => Cell>>;
}

/** A table of figures, one row for each part of a whole. */
export interface FigureTable<Row> {
  readonly id: string;
  readonly title: HtmlValue;
  readonly caption?: HtmlValue;
  /** What it can be told apart by, as links. */
  readonly switches?: Html | undefined;
  readonly columns: readonly TableColumn<Row>[];
  readonly rows: readonly Row[];
  /** Its class, which CSS arranges it by. */
  readonly look: string;
  readonly isWide?: boolean;
  /** What it does where it is wider than a phone: its rows become blocks of two lines, or it moves sideways. */
  readonly narrow?: 'stacks' | 'scrolls';
  /** In place of the table, if it has nothing to say. */
  readonly none?: string | undefined;
  /** How many rows the page shows, and what it says of the others, which are in the file. */
  readonly limit?: { readonly rows: number; note(hidden: number): string };
  readonly note?: HtmlValue;
  rowLook?(row: Row): string | undefined;
  /** In the name of the file, if that is not the id. */
  readonly noun?: string;
  /** Its rows in the file, if they are others than those of the page. */
  readonly file?: () => Omit<File, 'noun'>;
}

export function tableExhibit<Row>(table: FigureTable<Row>): Exhibit {
  const { id, title, caption, switches, isWide, narrow, none, limit, note, rows, columns } = table;
  const hidden = limit === undefined ? 0 : rows.length - limit.rows;
  return {
    id,
    show: (csv) =>
      html`<section class="chart${isWide ? ' wide' : ''}" aria-labelledby="${id}">
        <h2 id="${id}">${title}</h2>
        ${switches} ${caption && html`<p class="quiet">${caption}</p>`}
        ${
          none === undefined
            ? html`${
                narrow
                  ? html`<div class="wide-table" tabindex="0" role="group" aria-labelledby="${id}">
                      ${tableOf(table)}
                    </div>`
                  : tableOf(table)
              }
              ${limit && hidden > 0 && html`<p class="quiet">${limit.note(hidden)}</p>`} ${note}
              ${csvLink(csv)}`
            : html`<p class="quiet none">${none}</p>`
        }
      </section>`,
    file() {
      const cells = columns.flatMap(({ file = {} }) => Object.entries(file));
      const own = {
        heads: cells.map(([head]) => head),
        rows: rows.map((row) => cells.map(([, cell]) => cell(row))),
      };
      return { noun: table.noun ?? id, ...(table.file?.() ?? own) };
    },
  };
}

function tableOf<Row>(table: FigureTable<Row>): Html {
  const { id, columns, rows, limit, rowLook, narrow } = table;
  const shown = columns.filter((column) => column.cell);
  const isRepeated = narrow === 'stacks';
  const look = isRepeated ? `${table.look} stacks` : table.look;
  return plainTable(
    rows.slice(0, limit?.rows),
    shown.map(({ label, tone, kind, cell, href, sets }) => [
      // Of columns with a colour, the style sheet has the head for phones.
      tone ? html`${label}` : label,
      (row) => {
        const path = href?.(row);
        return path === undefined ? cell?.(row) : html`<a href="${path}">${cell?.(row)}</a>`;
      },
      tone ?? kind,
      undefined,
      sets && String(new URLSearchParams(sets)),
    ]),
    { look, rowLook, isRepeated, labelledBy: id },
  );
}

/**
 * Parts of a whole, side by side in one bar.
 * @param most the whole of the longest bar
 */
export function bar(
  parts: readonly { readonly tone: Series['tone']; readonly count: number }[],
  most: number,
): Html {
  const x = scaleLinear([0, most], [0, 100]);
  let from = 0;
  const drawn = parts.map(({ tone, count }) => {
    const [start, end] = [x(from), x(from + count)];
    from += count;
    return html`<rect class="${tone}" x="${tenth(start)}" width="${tenth(end - start)}" />`;
  });
  return html`<svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
    ${drawn}
  </svg>`;
}

/** A part of a change, from the middle to the right if it adds. @param size from -1 to 1 */
export function signedBar(size: number, isBetter: boolean): Html {
  const width = Math.max(Math.abs(size) * 50, 0.6);
  return html`<svg viewBox="0 0 100 12" preserveAspectRatio="none" aria-hidden="true">
    <path class="rule" d="M50,0V12" />
    <rect
      class="${isBetter ? 'kept' : 'lost'}"
      x="${(size < 0 ? 50 - width : 50).toFixed(2)}"
      width="${width.toFixed(2)}"
      y="2"
      height="8"
    />
  </svg>`;
}
