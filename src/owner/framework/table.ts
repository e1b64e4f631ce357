import { type Html, type HtmlValue, html } from '../../http/html.ts';
import { hiddenFields, selectField } from '../ui/fields.ts';
import { type Column, chosenAmong, isChosen, nameOf } from './columns.ts';
import { type Texts, parseFilters } from './address.ts';
import { csvLink } from './csv.ts';
import { emptyList } from './empty.ts';
import { classOf, ofRow } from '../ui/table.ts';
import {
  type FilterLinks,
  type ListVisit,
  type OpenList,
  type RowCount,
  defaultRows,
  rowsPerPage,
  valueOf,
} from './list.ts';
import { formatCount } from '../ui/formats.ts';
import type { Home } from '../../platforms/source-ids.ts';
import { homeLink, homeOf, sharedHome, showId } from './homes.ts';

/** What links of a list need to know. */
type Open = Pick<
  OpenList<never, never>,
  'orders' | 'visit' | 'path' | 'query' | 'chosen' | 'limit'
>;

/** A page of a list. */
interface Listing<Row, Summary> extends OpenList<Row, Summary> {
  readonly rows: readonly Row[];
  readonly summary: Summary;
  /** Which of all rows they are; undefined for the first ones on a page about more. */
  readonly part?: {
    readonly before: number;
    readonly count: RowCount | undefined;
    /** Where the page before begins, if that is not the first one. */
    readonly previous: string | undefined;
    /** Where the next page begins. */
    readonly next: string | undefined;
  };
}

/** Whether there are no rows without any filter. */
export const isEmpty = (query: Texts, rows: readonly unknown[]) =>
  rows.length === 0 && Object.values(query).every((each) => !each);

/** A paged table with filters, orders and a choice of columns; its whole state is in the address. */
export function table<Row, Summary>(found: Listing<Row, Summary>): Html {
  const { list, visit, path, query, rows, part, summary } = found;
  const orders = Object.entries(found.orders).filter(
    ([order]) => list.canSort?.(summary, order) ?? true,
  );
  const listing = { ...found, orders: Object.fromEntries(orders) };
  const isFurther = part !== undefined && part.before > 0;
  if (isEmpty(query, rows) && !isFurther) return emptyList(visit, valueOf(list.empty, visit));
  const { noun } = list;
  return html`<div class="listing">
    ${list.above?.(visit, summary)} ${folds(listing)}
    ${
      rows.length === 0
        ? html`<p class="quiet">
            ${isFurther ? html`There are no further ${noun}.` : html`No ${noun} match these filters.`}
            <a href="${path}">See all</a>
          </p>`
        : rowsTable(listing)
    }
    ${part && pager(listing, part)}
    ${
      rows.length !== 0 &&
      html`<div class="take">
        ${part && copyIds(listing)} ${csvLink(urlWith(`${path}.csv`, stateOf(listing)))}
        ${part && columnsForm(listing)}
      </div>`
    }
  </div>`;
}

/** Which rows the page has, how many a page has, and the way to the others. */
function pager<Row, Summary>(
  listing: Listing<Row, Summary>,
  { before, count, previous, next }: NonNullable<Listing<Row, Summary>['part']>,
): Html {
  const { visit, path, rows, limit } = listing;
  const at = (change: Texts) => urlWith(path, { ...stateOf(listing), ...change });
  const shown = (value: number) => formatCount(visit, value);
  const total =
    typeof count === 'object' ? `more than ${shown(count.moreThan)}` : count && shown(count);
  const isLong = before > 0 || next !== undefined || rows.length > defaultRows;
  const sizes = Object.entries(rowsPerPage).map(([text, label]) => {
    const size = Number(text);
    return [urlWith(path, stateOf({ ...listing, limit: size })), label, size === limit] as const;
  });
  return html`<div class="pager">
    ${previous !== undefined && html`<a href="${at({})}">First page</a>`}
    ${before > 0 && html`<a href="${at({ cursor: previous })}" rel="prev">Previous</a>`}
    ${
      rows.length > 0 &&
      html`<p>${shown(before + 1)} to ${shown(before + rows.length)}${total && ` of ${total}`}</p>`
    }
    ${isLong && linkGroup('Rows per page', sizes)}
    ${next !== undefined && html`<a class="next" href="${at({ cursor: next })}" rel="next">Next</a>`}
  </div>`;
}

/**
 * Copies the ids of the records that the rows are of, each once, as their source writes them. A script finds those that
 * the rows themselves show.
 */
function copyIds<Row, Summary>({ visit, columns, rows }: Listing<Row, Summary>): Html | undefined {
  const names = columns.find(({ kind }) => kind === 'head')?.names;
  if (!names) return undefined;
  const ids = rows.flatMap((row) => {
    const [kind, id] = names(row);
    return id === null
      ? []
      : [[homeOf(visit, kind, id)?.sourceId ?? String(id), showId(visit, kind, id)]];
  });
  const sourceIds = new Set(ids.map(([sourceId]) => sourceId));
  return html`<button type="button" class="plain small" data-copies="ids" hidden>Copy ids</button>
    ${
      ids.some(([sourceId, shown]) => sourceId !== shown) &&
      html`<pre id="ids" hidden>${[...sourceIds].join('\n')}</pre>`
    }`;
}

/** The parameters of the address, but for where the page begins. */
function stateOf({ orders, visit: { order }, query, chosen, limit }: Open): Texts {
  return {
    ...query,
    order: order === Object.keys(orders)[0] ? undefined : order,
    rows: limit === defaultRows ? undefined : String(limit),
    columns: chosen && [...chosen].join(','),
  };
}

function urlWith(path: Open['path'], query: Texts): Open['path'] {
  const pairs = Object.entries(query).filter((pair): pair is [string, string] => Boolean(pair[1]));
  return pairs.length === 0 ? path : `${path}?${new URLSearchParams(pairs)}`;
}

/** What chooses and sorts the rows, each behind a button on phones; elsewhere filters are open, and heads sort. */
function folds<Row, Summary>(listing: Listing<Row, Summary>): Html | undefined {
  const { list, orders, visit, query } = listing;
  const links = list.links && valueOf(list.links, visit);
  const names = [links, ...(list.selects ?? [])].flatMap((each) => each?.name ?? []);
  const count = names.filter((name) => query[name]).length;
  const filters =
    names.length > 0 &&
    html`<details class="fold">
      <summary>Filter${count > 0 && ` (${formatCount(visit, count)})`}</summary>
      ${selectForm(listing)} ${links && filterLinks(listing, links)}
    </details>`;
  const sort =
    Object.keys(orders).length > 1 &&
    html`<details class="fold sort">
      <summary>Sort: ${orders[visit.order]}</summary>
      ${orderLinks(listing)}
    </details>`;
  return filters || sort ? html`<div class="folds">${filters} ${sort}</div>` : undefined;
}

/** Links of which one is chosen. */
function linkGroup(
  label: string,
  links: readonly (readonly [href: Open['path'], text: string, isCurrent: boolean])[],
): Html {
  return html`<div class="filters" role="group" aria-label="${label}">
    ${links.map(
      ([href, text, isCurrent]) =>
        html`<a href="${href}" ${isCurrent && html`aria-current="true"`}>${text}</a>`,
    )}
  </div>`;
}

function filterLinks<Row, Summary>(
  listing: Listing<Row, Summary>,
  links: FilterLinks<ListVisit, Summary>,
): Html {
  const { list, visit, path, query, chosen, summary } = listing;
  const { name, label, none = 'All', ends } = links;
  const link = (value: string | undefined, text: string) => {
    const isCurrent = value === query[name];
    const change = { [name]: value, ...(ends && !isCurrent && { [ends]: undefined }) };
    const texts = { ...visit.texts, ...change };
    const filters = parseFilters(list.filters, texts);
    // Its columns may be others.
    const columns = valueOf(list.columns, { ...visit, texts, filters });
    const state = stateOf({ ...listing, chosen: chosenAmong(chosen, columns) });
    return [urlWith(path, { ...state, ...change }), text, isCurrent] as const;
  };
  const options = Object.entries(valueOf(links.options, visit, summary));
  return linkGroup(label, [
    link(undefined, none),
    ...options.map(([value, [text]]) => link(value, text)),
  ]);
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

function orderLinks(open: Open): Html {
  const links = Object.entries(open.orders).map(
    ([order, label]) => [orderPath(open, order), label, order === open.visit.order] as const,
  );
  return linkGroup('Order', links);
}

function orderPath({ visit, ...open }: Open, order: string): Open['path'] {
  return urlWith(open.path, stateOf({ ...open, visit: { ...visit, order } }));
}

function rowsTable<Row, Summary>(listing: Listing<Row, Summary>): Html {
  const { list, orders, visit, columns, chosen, rows, summary } = listing;
  const order = orders[visit.order]?.toLowerCase();
  const caption =
    typeof list.caption === 'function' ? list.caption(visit) : `${list.caption}, ${order}`;
  const shown = columns
    .filter((column) => column.cell && isChosen(column, chosen))
    .map((column) => ({
      ...column,
      home: column.names && sharedHome(visit, rows.map(column.names)),
    }));
  const contentOf = ({ cell, names, home }: (typeof shown)[number], row: Row) => {
    const record = home ? undefined : names?.(row);
    const id = record?.[1] ?? null;
    return html`${cell?.(row, visit)}${record && id !== null && homeLink(visit, record[0], id)}`;
  };
  const sums = shown.map((column) => column.sum?.(summary, visit));
  const content = html`<table class="rows">
    <caption class="visually-hidden">
      ${caption}
    </caption>
    <thead>
      <tr>
        ${shown.map((column) => head(listing, column, column.home))}
      </tr>
    </thead>
    <tbody>
      ${rows.map((row) => {
        const cells = shown.map((column) => bodyCell(column, contentOf(column, row)));
        return html`<tr>
          ${cells}
        </tr>`;
      })}
    </tbody>
    ${
      sums.some((sum) => sum !== undefined) &&
      html`<tfoot>
        <tr>
          ${shown.map((column, index) => footCell(column, sums[index]))}
        </tr>
      </tfoot>`
    }
  </table>`;
  return list.form?.(visit, content) ?? content;
}

type Sortable = Pick<Column<never>, 'label' | 'kind' | 'sort'>;

/** With a link that sorts by the column, or turns its order round. A script makes the links to the home of its ids. */
function head(open: Open, { label, kind, sort }: Sortable, home: Home['page'] | undefined): Html {
  const homes = home && html` data-home="${home.href}" data-at="${home.title}"`;
  if (!sort?.every((each) => each in open.orders)) {
    return html`<th scope="col" ${classOf(kind)}${homes}>${label}</th>`;
  }
  const [ascending, descending] = sort;
  const { order } = open.visit;
  const sorted = { [ascending]: 'ascending', [descending]: 'descending' }[order];
  return html`<th scope="col" ${classOf(kind)} ${sorted && html`aria-sort="${sorted}"`}>
    <a href="${orderPath(open, order === descending ? ascending : descending)}">${label}</a>
  </th>`;
}

const bodyCell = (column: Marked, content: HtmlValue) =>
  column.kind === 'head' ? html`<th${ofRow}>${content}` : html`<td${marksOf(column)}>${content}`;

/** With its end, as the last one would not be empty otherwise. */
const footCell = (column: Marked, sum: HtmlValue) =>
  column.kind === 'head'
    ? html`<th${ofRow}>Total</th>`
    : html`<td${classOf(column.kind)}>${sum}</td>`;

type Marked = Pick<Column<never>, 'kind' | 'label' | 'isStyled'>;

/** On phones, only numbers and cells of no kind need their head beside them. */
const marksOf = ({ kind, label, isStyled }: Marked) =>
  kind === undefined || kind === 'number'
    ? html`${classOf(kind)}${!isStyled && html` data-label="${label}"`}`
    : classOf(kind);

/** Chooses the columns of the page and its file. Closed, it is a link to the page where it is open: a script loads it. */
function columnsForm<Row, Summary>(open: OpenList<Row, Summary>): Html {
  const { path, columns, chosen, visit } = open;
  if (visit.query.get('choose') !== 'columns') {
    const href = `${urlWith(path, { ...stateOf(open), choose: 'columns' })}#columns`;
    return html`<a class="shown-columns" href="${href}" data-loads=".shown-columns">Columns</a>`;
  }
  const choices = columns.filter(({ kind, cell }) => cell && kind !== 'head');
  return html`<details class="shown-columns" id="columns" open>
    <summary>Columns</summary>
    <form class="choose" method="get" action="${path}">
      ${hiddenFields(Object.entries({ ...stateOf(open), columns: undefined }))}
      ${choices.map((column) => {
        const name = nameOf(column);
        const isChecked = isChosen(column, chosen);
        return html`<label>
          <input type="checkbox" name="columns" value="${name}" ${isChecked && html`checked`} />
          ${column.label}
        </label>`;
      })}
      <button>Show</button>
    </form>
  </details>`;
}
