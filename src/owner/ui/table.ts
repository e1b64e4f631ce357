import { type Html, type HtmlValue, html } from '../../http/html.ts';
import type { Tone } from './labels.ts';

type Figures = 'number' | 'number main' | 'amount' | 'amount main' | 'amount quiet';

/** On phones, heads are repeated beside their cells, but for those that are markup and in plain tables. */
export type TableColumn<Row> = readonly [
  head: HtmlValue,
  cell: (row: Row) => HtmlValue,
  kind?: 'head' | 'bar' | 'state' | Tone | Figures | undefined,
  foot?: HtmlValue,
  /** The parameters that its cells add to where the head of their row leads: a script makes them links. */
  sets?: string | undefined,
];

interface Around<Row> {
  /** Its class, which CSS arranges it by. */
  readonly look?: string;
  readonly rowLook?: ((row: Row) => string | undefined) | undefined;
  /** Whether phones, where it has no head, have the heads beside the cells. */
  readonly isRepeated?: boolean;
  /** For screen readers, in place of an element's id. */
  readonly caption?: string;
  readonly labelledBy?: string;
}

/** A class of an element, with the space before it; nothing if it has none. */
export const classOf = (name: string | undefined) => name && html` class="${name}"`;

/** Of the head of a row. HTML needs no end tags of cells, which would be a tenth of a list. */
export const ofRow = html` scope="row"`;

/** A small table, which a page shows whole. */
export function plainTable<Row>(
  rows: readonly Row[],
  columns: readonly TableColumn<Row>[],
  { look, rowLook, caption, labelledBy, ...around }: Around<Row> = {},
): Html {
  const { isRepeated = look === undefined || look === 'brief' } = around;
  const line = (row: Row) =>
    html`<tr${classOf(rowLook?.(row))}>
      ${columns.map(([head, cell, kind]) => {
        if (kind === 'head') return html`<th${ofRow}>${cell(row)}`;
        const label = isRepeated && typeof head === 'string' && head && html` data-label="${head}"`;
        return html`<td${classOf(kind)}${label}>${cell(row)}`;
      })}
    </tr>`;
  const hasFoot = columns.some(([, , , foot]) => foot !== undefined);
  return html`<table${classOf(look)}${labelledBy && html` aria-labelledby="${labelledBy}"`}>
    ${
      caption &&
      html`<caption class="visually-hidden">
        ${caption}
      </caption>`
    }
    <thead>
      <tr>
        ${columns.map(([head, , kind, , sets]) => {
          if (head === '') return html`<td></td>`;
          const aligned = kind === 'head' || kind === 'state' ? undefined : kind;
          const marks = html`${classOf(aligned)}${sets && html` data-sets="${sets}"`}`;
          return html`<th scope="col" ${marks}>${head}</th>`;
        })}
      </tr>
    </thead>
    <tbody>
      ${rows.map(line)}
    </tbody>
    ${
      hasFoot &&
      html`<tfoot>
        ${footOf(columns)}
      </tfoot>`
    }
  </table>`;
}

/** A column without a foot belongs to the foot of the next one. */
function footOf<Row>(columns: readonly TableColumn<Row>[]): Html {
  let span = 1;
  const cells = columns.flatMap(([, , kind, foot]) => {
    if (foot === undefined) {
      span += 1;
      return [];
    }
    const colspan = span === 1 ? undefined : html` colspan="${span}"`;
    span = 1;
    return kind === 'head'
      ? html`<th scope="row">${foot}</th>`
      : html`<td${classOf(kind)}${colspan}>${foot}</td>`;
  });
  return html`<tr>
    ${cells}
  </tr>`;
}

/** The head of a column whose cells say what it is. */
export const hiddenHead = (text: string): Html =>
  html`<span class="visually-hidden">${text}</span>`;
