import { type Html, type HtmlValue, html } from '../../http/html.ts';
import type { ShopVisit } from '../pages.ts';
import { selectField } from '../view/select.ts';
import { type Chosen, type Column, isChosen, nameOf } from './columns.ts';
import { csvLink } from './csv.ts';

type Path = `/app${string}`;
type Query = Readonly<Record<string, string | undefined>>;

/** What the table of a list shows. */
export interface Table<Row, Summary> {
  readonly visit: ShopVisit;
  readonly caption: string;
  /** What the rows are, in the plural. */
  readonly noun: string;
  /** The page's path, without its query. */
  readonly path: Path;
  /** What chooses the rows, in the page's address. */
  readonly query: Query;
  readonly links?:
    | {
        readonly name: string;
        readonly label: string;
        readonly none?: string;
        readonly options: Readonly<Record<string, readonly [label: string, ...unknown[]]>>;
      }
    | undefined;
  readonly selects: readonly {
    readonly name: string;
    readonly label: string;
    readonly none: string;
    readonly options: readonly (readonly [value: string, label: string])[];
  }[];
  /** The first is the one without a parameter. */
  readonly orders: Readonly<Record<string, string>>;
  readonly order: string;
  readonly columns: readonly Column<Row, Summary>[];
  readonly chosen: Chosen;
  /** The chosen ones that it has with another value of a filter. */
  readonly chosenWith: (change: Query) => Chosen;
  readonly summary: Summary;
  readonly rows: readonly Row[];
  /** Whether rows precede the first one. */
  readonly isFurther: boolean;
  /** Where the next page begins. */
  readonly next: string | undefined;
  readonly above: HtmlValue;
  /** Shown if there are no rows without any filter. */
  readonly empty: () => Html;
}

/** A paged table with filters, orders and a choice of columns; its whole state is in the address. */
export function table<Row, Summary>(parts: Table<Row, Summary>): Html {
  const { noun, path, query, rows, isFurther } = parts;
  const isUnfiltered = !isFurther && Object.values(query).every((each) => !each);
  if (isUnfiltered && rows.length === 0) return html`<div class="card">${parts.empty()}</div>`;
  const state = stateOf(parts);
  return html`<div class="listing">
    ${parts.above} ${selectForm(parts)} ${orderLinks(parts)} ${filterLinks(parts)}
    ${
      rows.length === 0
        ? html`<p class="quiet">
            ${isFurther ? html`There are no further ${noun}.` : html`No ${noun} match these filters.`}
            <a href="${path}">See all</a>
          </p>`
        : rowsTable(parts)
    }
    ${pager(parts)}
    ${
      rows.length === 0
        ? undefined
        : html`${csvLink(urlWith(`${path}.csv`, state))} ${columnsForm(parts)}`
    }
  </div>`;
}

function pager<Row, Summary>(parts: Table<Row, Summary>): Html | undefined {
  const { path, isFurther, next } = parts;
  if (!isFurther && next === undefined) return undefined;
  const first = urlWith(path, stateOf(parts));
  const further = urlWith(path, { ...stateOf(parts), cursor: next });
  return html`<p class="pager">
    ${isFurther ? html`<a href="${first}">Back to the first page</a>` : undefined}
    ${next === undefined ? undefined : html`<a class="next" href="${further}" rel="next">Next</a>`}
  </p>`;
}

/** The parameters of the address, but for where the page begins. */
function stateOf<Row, Summary>({ query, orders, order, chosen }: Table<Row, Summary>): Query {
  return {
    ...query,
    order: order === Object.keys(orders)[0] ? undefined : order,
    columns: chosen && [...chosen].join(','),
  };
}

function urlWith(path: Path, query: Query): Path {
  const pairs = pairsOf(query);
  return pairs.length === 0 ? path : `${path}?${new URLSearchParams(pairs)}`;
}

const pairsOf = (query: Query) =>
  Object.entries(query).filter((pair): pair is [string, string] => Boolean(pair[1]));

const hiddenFields = (query: Query) =>
  pairsOf(query).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`,
  );

const current = (isCurrent: boolean) => (isCurrent ? html`aria-current="true"` : undefined);

function filterLinks<Row, Summary>(parts: Table<Row, Summary>): Html | undefined {
  const { path, query, links } = parts;
  if (!links) return undefined;
  const { name, label, none = 'All', options } = links;
  const link = (value: string | undefined, text: string) => {
    const change = { [name]: value };
    const state = stateOf({ ...parts, chosen: parts.chosenWith(change) });
    return html`<a
      href="${urlWith(path, { ...state, ...change })}"
      ${current(value === query[name])}
      >${text}</a
    >`;
  };
  return html`<div class="filters" role="group" aria-label="${label}">
    ${link(undefined, none)} ${Object.entries(options).map(([value, [text]]) => link(value, text))}
  </div>`;
}

function selectForm<Row, Summary>(parts: Table<Row, Summary>): Html | undefined {
  const { path, query, selects } = parts;
  if (selects.length === 0) return undefined;
  const others = {
    ...stateOf(parts),
    ...Object.fromEntries(selects.map(({ name }) => [name, ''])),
  };
  return html`<form class="choose" method="get" action="${path}">
    ${hiddenFields(others)}
    ${selects.map((each) => selectField({ ...each, selected: query[each.name] }))}
    <button class="plain">Filter</button>
  </form>`;
}

/** Where there is room for heads, these sort. */
function orderLinks<Row, Summary>(parts: Table<Row, Summary>): Html | undefined {
  const { orders, order } = parts;
  if (Object.keys(orders).length < 2) return undefined;
  return html`<div class="filters orders" role="group" aria-label="Order">
    ${Object.entries(orders).map(
      ([each, label]) =>
        html`<a href="${orderPath(parts, each)}" ${current(each === order)}>${label}</a>`,
    )}
  </div>`;
}

function orderPath<Row, Summary>(parts: Table<Row, Summary>, order: string): Path {
  return urlWith(parts.path, stateOf({ ...parts, order }));
}

function rowsTable<Row, Summary>(parts: Table<Row, Summary>): Html {
  const { visit, caption, columns, chosen, rows, summary } = parts;
  const shown = columns.filter((column) => column.cell && isChosen(column, chosen));
  const sums = shown.map((column) => column.sum?.(summary, visit));
  return html`<table class="rows">
    <caption class="visually-hidden">
      ${caption}
    </caption>
    <thead>
      <tr>
        ${shown.map((column) => head(parts, column))}
      </tr>
    </thead>
    <tbody>
      ${rows.map(
        (row) =>
          html`<tr>
            ${shown.map(({ label, kind, cell }) =>
              kind === 'head'
                ? html`<th scope="row">${cell?.(row, visit)}</th>`
                : html`<td${classOf(kind)} data-label="${label}">${cell?.(row, visit)}</td>`,
            )}
          </tr>`,
      )}
    </tbody>
    ${
      sums.some((sum) => sum !== undefined)
        ? html`<tfoot>
            <tr>
              ${shown.map(({ label, kind }, index) =>
                kind === 'head'
                  ? html`<th scope="row">Total</th>`
                  : html`<td${classOf(kind)} data-label="${label}">${sums[index]}</td>`,
              )}
            </tr>
          </tfoot>`
        : undefined
    }
  </table>`;
}

/** With a link that sorts by the column, or turns its order round. */
function head<Row, Summary>(
  parts: Table<Row, Summary>,
  { label, kind, sort }: Column<Row, Summary>,
): Html {
  if (!sort) return html`<th scope="col" ${classOf(kind)}>${label}</th>`;
  const [ascending, descending] = sort;
  const { order } = parts;
  const sorted = { [ascending]: 'ascending', [descending]: 'descending' }[order];
  return html`<th scope="col" ${classOf(kind)} ${sorted && html`aria-sort="${sorted}"`}>
    <a href="${orderPath(parts, order === descending ? ascending : descending)}">${label}</a>
  </th>`;
}

/** A class of an element, with the space before it; nothing if it has none. */
export const classOf = (name: string | undefined) => name && html` class="${name}"`;

/** Chooses the columns of the page and its file. */
function columnsForm<Row, Summary>(parts: Table<Row, Summary>): Html {
  const { path, columns, chosen } = parts;
  const choices = columns.filter(({ kind, cell }) => cell && kind !== 'head');
  return html`<details class="shown-columns">
    <summary>Columns</summary>
    <form class="choose" method="get" action="${path}">
      ${hiddenFields({ ...stateOf(parts), columns: undefined })}
      ${choices.map((column) => {
        const name = nameOf(column);
        const isChecked = isChosen(column, chosen);
        return html`<label class="check">
          <input
            type="checkbox"
            name="columns"
            value="${name}"
            ${isChecked ? html`checked` : undefined}
          />
          ${column.label}
        </label>`;
      })}
      <button>Show</button>
    </form>
  </details>`;
}
