import { type Html, type HtmlValue, html } from '../../http/html.ts';

/** On phones, heads are repeated beside their cells, but for those that are markup and in plain tables. */
export type TableColumn<Row> = readonly [
  head: HtmlValue,
  cell: (row: Row) => HtmlValue,
  kind?: 'head' | 'number' | 'amount' | 'state' | undefined,
  foot?: HtmlValue,
];

interface Around {
  /** Its class, which CSS arranges it by. */
  readonly look?: 'plain' | 'brief';
  /** For screen readers, in place of an element's id. */
  readonly caption?: string;
  readonly labelledBy?: string;
}

const classOf = (kind: string | undefined) =>
  kind === undefined || kind === 'head' ? undefined : html` class="${kind}"`;

/** A small table, which a page shows whole. */
export function plainTable<Row>(
  rows: readonly Row[],
  columns: readonly TableColumn<Row>[],
  { look, caption, labelledBy }: Around = {},
): Html {
  const line = (cellOf: (column: TableColumn<Row>) => HtmlValue) =>
    html`<tr>
      ${columns.map((column) => {
        const [head, , kind] = column;
        if (kind === 'head') return html`<th scope="row">${cellOf(column)}</th>`;
        const isRepeated = look !== 'plain' && typeof head === 'string';
        const label = isRepeated ? html` data-label="${head}"` : undefined;
        return html`<td${classOf(kind)}${label}>${cellOf(column)}</td>`;
      })}
    </tr>`;
  const hasFoot = columns.some(([, , , foot]) => foot !== undefined);
  return html`<table${look && html` class="${look}"`}${labelledBy && html` aria-labelledby="${labelledBy}"`}>
    ${
      caption &&
      html`<caption class="visually-hidden">
        ${caption}
      </caption>`
    }
    <thead>
      <tr>
        ${columns.map(
          ([head, , kind]) =>
            html`<th scope="col" ${kind !== 'state' && classOf(kind)}>${head}</th>`,
        )}
      </tr>
    </thead>
    <tbody>
      ${rows.map((row) => line(([, cell]) => cell(row)))}
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
