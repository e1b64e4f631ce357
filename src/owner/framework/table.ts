import { type Html, html } from '../../http/html.ts';
import { hiddenFields, selectField } from '../ui/fields.ts';
import { type Column, chosenAmong, isChosen, nameOf } from './columns.ts';
import { parseFilters } from './address.ts';
import { csvLink } from './csv.ts';
import { type AnyList, type OpenList, valueOf } from './list.ts';

type Query = Readonly<Record<string, string | undefined>>;

/** What links of a list need to know. */
type Open = Pick<OpenList<never, never>, 'visit' | 'path' | 'query' | 'chosen'> & {
  readonly list: Pick<AnyList<never, never>, 'orders'>;
};

/** A page of a list. */
interface Listing<Row, Summary> extends OpenList<Row, Summary> {
  readonly rows: readonly Row[];
  readonly summary: Summary;
  /** Whether rows precede the first one. */
  readonly isFurther: boolean;
  /** Where the next page begins. */
  readonly next: string | undefined;
}

/** A paged table with filters, orders and a choice of columns; its whole state is in the address. */
export function table<Row, Summary>(listing: Listing<Row, Summary>): Html {
  const { list, visit, path, query, rows, isFurther, summary } = listing;
  const isUnfiltered = !isFurther && Object.values(query).every((each) => !each);
  if (isUnfiltered && rows.length === 0) return html`<div class="card">${list.empty(visit)}</div>`;
  const { noun } = list;
  return html`<div class="listing">
    ${list.above?.(visit, summary)} ${selectForm(listing)} ${orderLinks(listing)}
    ${filterLinks(listing)}
    ${
      rows.length === 0
        ? html`<p class="quiet">
            ${isFurther ? html`There are no further ${noun}.` : html`No ${noun} match these filters.`}
            <a href="${path}">See all</a>
          </p>`
        : rowsTable(listing)
    }
    ${pager(listing)}
    ${
      rows.length !== 0 &&
      html`${csvLink(urlWith(`${path}.csv`, stateOf(listing)))} ${columnsForm(listing)}`
    }
  </div>`;
}

function pager<Row, Summary>(listing: Listing<Row, Summary>): Html | undefined {
  const { path, isFurther, next } = listing;
  if (!isFurther && next === undefined) return undefined;
  const first = urlWith(path, stateOf(listing));
  const further = urlWith(path, { ...stateOf(listing), cursor: next });
  return html`<p class="pager">
    ${isFurther && html`<a href="${first}">Back to the first page</a>`}
    ${next !== undefined && html`<a class="next" href="${further}" rel="next">Next</a>`}
  </p>`;
}

/** The parameters of the address, but for where the page begins. */
function stateOf({ list, visit: { order }, query, chosen }: Open): Query {
  return {
    ...query,
    order: order === Object.keys(list.orders)[0] ? undefined : order,
    columns: chosen && [...chosen].join(','),
  };
}

function urlWith(path: Open['path'], query: Query): Open['path'] {
  const pairs = Object.entries(query).filter((pair): pair is [string, string] => Boolean(pair[1]));
  return pairs.length === 0 ? path : `${path}?${new URLSearchParams(pairs)}`;
}

const current = (isCurrent: boolean) => (isCurrent ? html`aria-current="true"` : undefined);

function filterLinks<Row, Summary>(listing: Listing<Row, Summary>): Html | undefined {
  const { list, visit, path, query, chosen, summary } = listing;
  const links = list.links && valueOf(list.links, visit);
  if (!links) return undefined;
  const { name, label, none = 'All' } = links;
  const link = (value: string | undefined, text: string) => {
    const change = { [name]: value };
    const texts = { ...visit.texts, ...change };
    const filters = parseFilters(list.filters, texts);
    // Its columns may be others.
    const columns = valueOf(list.columns, { ...visit, texts, filters });
    const state = stateOf({ ...listing, chosen: chosenAmong(chosen, columns) });
    return html`<a
      href="${urlWith(path, { ...state, ...change })}"
      ${current(value === query[name])}
      >${text}</a
    >`;
  };
  const options = Object.entries(valueOf(links.options, visit, summary));
  return html`<div class="filters" role="group" aria-label="${label}">
    ${link(undefined, none)} ${options.map(([value, [text]]) => link(value, text))}
  </div>`;
}

function selectForm<Row, Summary>(listing: Listing<Row, Summary>): Html | undefined {
  const { list, path, query, summary } = listing;
  const { selects = [] } = list;
  if (selects.length === 0) return undefined;
  const own = Object.fromEntries(selects.map(({ name }) => [name, undefined]));
  return html`<form class="choose" method="get" action="${path}">
    ${hiddenFields(Object.entries({ ...stateOf(listing), ...own }))}
    ${selects.map(({ options, ...each }) =>
      selectField({
        ...each,
        id: each.name,
        options: options(summary),
        selected: query[each.name],
      }),
    )}
    <button class="plain">Filter</button>
  </form>`;
}

/** Where there is room for heads, these sort. */
function orderLinks(open: Open): Html | undefined {
  const orders = Object.entries(open.list.orders);
  if (orders.length < 2) return undefined;
  return html`<div class="filters orders" role="group" aria-label="Order">
    ${orders.map(
      ([order, label]) =>
        html`<a href="${orderPath(open, order)}" ${current(order === open.visit.order)}
          >${label}</a
        >`,
    )}
  </div>`;
}

function orderPath({ visit, ...open }: Open, order: string): Open['path'] {
  return urlWith(open.path, stateOf({ ...open, visit: { ...visit, order } }));
}

function rowsTable<Row, Summary>(listing: Listing<Row, Summary>): Html {
  const { list, visit, columns, chosen, rows, summary } = listing;
  const order = list.orders[visit.order]?.toLowerCase();
  const caption =
    typeof list.caption === 'function' ? list.caption(visit) : `${list.caption}, ${order}`;
  const shown = columns.filter((column) => column.cell && isChosen(column, chosen));
  const sums = shown.map((column) => column.sum?.(summary, visit));
  return html`<table class="rows">
    <caption class="visually-hidden">
      ${caption}
    </caption>
    <thead>
      <tr>
        ${shown.map((column) => head(listing, column))}
      </tr>
    </thead>
    <tbody>
      ${rows.map(
        (row) =>
          html`<tr>
            ${shown.map((column) =>
              column.kind === 'head'
                ? html`<th scope="row">${column.cell?.(row, visit)}</th>`
                : html`<td${marksOf(column)}>${column.cell?.(row, visit)}</td>`,
            )}
          </tr>`,
      )}
    </tbody>
    ${
      sums.some((sum) => sum !== undefined) &&
      html`<tfoot>
        <tr>
          ${shown.map((column, index) =>
            column.kind === 'head'
              ? html`<th scope="row">Total</th>`
              : html`<td${marksOf(column)}>${sums[index]}</td>`,
          )}
        </tr>
      </tfoot>`
    }
  </table>`;
}

/** With a link that sorts by the column, or turns its order round. */
function head(
  open: Open,
  { label, kind, sort }: Pick<Column<never>, 'label' | 'kind' | 'sort'>,
): Html {
  if (!sort) return html`<th scope="col" ${classOf(kind)}>${label}</th>`;
  const [ascending, descending] = sort;
  const { order } = open.visit;
  const sorted = { [ascending]: 'ascending', [descending]: 'descending' }[order];
  return html`<th scope="col" ${classOf(kind)} ${sorted && html`aria-sort="${sorted}"`}>
    <a href="${orderPath(open, order === descending ? ascending : descending)}">${label}</a>
  </th>`;
}

/** On phones, only cells of no kind need their head beside them. */
const marksOf = ({ kind, label }: Pick<Column<never>, 'kind' | 'label'>) =>
  classOf(kind) ?? html` data-label="${label}"`;

/** A class of an element, with the space before it; nothing if it has none. */
export const classOf = (name: string | undefined) => name && html` class="${name}"`;

/** Chooses the columns of the page and its file. */
function columnsForm<Row, Summary>(open: OpenList<Row, Summary>): Html {
  const { path, columns, chosen } = open;
  const choices = columns.filter(({ kind, cell }) => cell && kind !== 'head');
  return html`<details class="shown-columns">
    <summary>Columns</summary>
    <form class="choose" method="get" action="${path}">
      ${hiddenFields(Object.entries({ ...stateOf(open), columns: undefined }))}
      ${choices.map((column) => {
        const name = nameOf(column);
        const isChecked = isChosen(column, chosen);
        return html`<label class="check">
          <input type="checkbox" name="columns" value="${name}" ${isChecked && html`checked`} />
          ${column.label}
        </label>`;
      })}
      <button>Show</button>
    </form>
  </details>`;
}
