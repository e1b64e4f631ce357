import { ServiceError } from '../../errors.ts';
import type { Answer } from '../../http/answer.ts';
import { type Html, type HtmlValue, html } from '../../http/html.ts';
import type { Asset } from '../../http/look/asset.ts';
import { encodeCursor } from '../../operations/cursor.ts';
import { cursorError } from '../../operations/parameters.ts';
import type { Position } from '../../store/records/paging.ts';
import { csvLink } from '../framework/csv.ts';
import { page } from './answers.ts';
import type { ShopVisit } from '../pages.ts';
import { alert, layout, shopPath } from './layout.ts';

/** Rows per page, the API's default. */
export const rowsPerPage = 50;
/** Rows of a file that are read at once, the API's maximum. */
export const rowsPerRead = 100;

type Path = `/app${string}`;
type Query = Readonly<Record<string, string | undefined>>;

export interface Column<Row> {
  readonly label: string;
  /**
   * head: the row's id; name: what the row is, first on phones; number and amount: right-aligned;
   * state: a word with a dot; date: last on phones; minor: only where there is room.
   */
  readonly kind?: 'head' | 'name' | 'number' | 'amount' | 'state' | 'date' | 'minor';
  cell(row: Row): HtmlValue;
}

export interface Listing<Row> {
  /** For screen readers. */
  readonly caption: string;
  /** What the rows are, in the plural. */
  readonly noun: string;
  /** The page's path, without its query. */
  readonly path: Path;
  /** The filters in the page's URL. */
  readonly query: Query;
  /** A parameter with a link for each of its values. */
  readonly filter: {
    readonly name: string;
    readonly label: string;
    readonly options: Readonly<Record<string, readonly [label: string, ...unknown[]]>>;
    /** What there is without the parameter, if that is not all. */
    readonly none?: string;
  };
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  /** The cursor of the page; undefined for the first one. */
  readonly cursor: string | undefined;
  readonly nextCursor: string | null;
  /** Forms that find rows by number. */
  readonly lookups?: Html;
  /** The path of the same rows as a file. */
  readonly csv: Path;
  /** Shown if there are no rows without any filter. */
  readonly emptyState: Html;
}

export interface PageOfRows<Row> {
  readonly rows: readonly Row[];
  readonly nextCursor: string | null;
}

/**
 * A page of rows, and where the next one begins.
 * @param found up to limit + 1 rows; the extra one shows that there is a next page
 * @param identity of the list and its filters
 */
export function pageOfRows<Row>(
  found: readonly Row[],
  limit: number,
  identity: string,
  positionOf: (row: Row) => Position,
): PageOfRows<Row> {
  const rows = found.slice(0, limit);
  const last = rows.at(-1);
  const hasMore = last !== undefined && found.length > limit;
  return { rows, nextCursor: hasMore ? encodeCursor(identity, positionOf(last)) : null };
}

/** A query parameter; undefined if it is empty, as forms send it. */
export function parameter(visit: ShopVisit, name: string): string | undefined {
  return visit.query.get(name) || undefined;
}

function urlWith(path: Path, query: Query): Path {
  const pairs = Object.entries(query).filter(
    (pair): pair is [string, string] => pair[1] !== undefined,
  );
  return pairs.length === 0 ? path : `${path}?${new URLSearchParams(pairs)}`;
}

/** A paged table with filter links; its whole state is in the URL. */
export function listing<Row>(parts: Listing<Row>): Html {
  const { noun, path, query, cursor, nextCursor, rows, csv, lookups, emptyState } = parts;
  const isUnfiltered = cursor === undefined && Object.values(query).every((each) => !each);
  if (isUnfiltered && rows.length === 0) return html`<div class="card">${emptyState}</div>`;
  const first = urlWith(path, query);
  const next = nextCursor === null ? undefined : urlWith(path, { ...query, cursor: nextCursor });
  return html`<div class="listing">
    ${lookups} ${filters(parts)}
    ${
      rows.length === 0
        ? html`<p class="quiet">
            ${cursor === undefined ? html`No ${noun} match these filters.` : html`There are no further ${noun}.`}
            <a href="${path}">See all</a>
          </p>`
        : table(parts)
    }
    ${
      cursor === undefined && next === undefined
        ? undefined
        : html`<p class="pager">
            ${cursor === undefined ? undefined : html`<a href="${first}">Back to the first page</a>`}
            ${next === undefined ? undefined : html`<a class="next" href="${next}" rel="next">Next</a>`}
          </p>`
    }
    ${rows.length === 0 ? undefined : csvLink(urlWith(csv, query))}
  </div>`;
}

function filters<Row>({ path, query, filter }: Listing<Row>): Html {
  const selected = query[filter.name];
  const link = (value: string | undefined, label: string) =>
    html`<a
      href="${urlWith(path, { ...query, [filter.name]: value })}"
      ${value === selected ? html`aria-current="true"` : undefined}
      >${label}</a
    >`;
  return html`<div class="filters" role="group" aria-label="${filter.label}">
    ${link(undefined, filter.none ?? 'All')}
    ${Object.entries(filter.options).map(([value, [label]]) => link(value, label))}
  </div>`;
}

function table<Row>({ caption, columns, rows }: Listing<Row>): Html {
  const heads = columns.map(
    ({ label, kind }) => html`<th scope="col" ${classOf(kind)}>${label}</th>`,
  );
  const cell = ({ label, kind, cell: show }: Column<Row>, row: Row) =>
    kind === 'head'
      ? html`<th scope="row">${show(row)}</th>`
      : html`<td ${classOf(kind)} data-label="${label}">${show(row)}</td>`;
  return html`<table class="rows">
    <caption class="visually-hidden">
      ${caption}
    </caption>
    <thead>
      <tr>
        ${heads}
      </tr>
    </thead>
    <tbody>
      ${rows.map(
        (row) =>
          html`<tr>
            ${columns.map((column) => cell(column, row))}
          </tr>`,
      )}
    </tbody>
  </table>`;
}

const classOf = (kind: string | undefined) => kind && html`class="${kind}"`;

interface ListingPage {
  readonly title: string;
  readonly current: 'subscriptions' | 'cancelFlow' | 'churn' | 'cohorts' | 'recovery' | 'revenue';
  readonly path: string;
  readonly status?: number;
  /** The parent page. */
  readonly breadcrumb?: { readonly path: string; readonly label: string };
  /** Loaded in addition to the assets of every page. */
  readonly assets?: readonly Asset[];
  /** The forms that invalid query parameters may come from, to correct them there. */
  readonly controls?: () => Promise<Html>;
}

/** For a cursor that does not fit; the API names its parameters, which owners do not see. */
const otherList = 'This address continues another list, or one with other filters.';

/** A page with a listing. For invalid query parameters it says what is wrong, and has a link. */
export async function listingPage(
  visit: ShopVisit,
  { path, status, controls, ...frame }: ListingPage,
  build: () => Promise<Html>,
): Promise<Answer> {
  const { shop } = visit;
  try {
    const content = await build();
    return page(layout(visit, { ...frame, content, shop }), status);
  } catch (error) {
    if (!(error instanceof ServiceError && error.kind === 'invalid')) throw error;
    const message = error.message.replace(cursorError, otherList);
    const content = html`${alert(message)} ${await controls?.()}
      <p><a href="${shopPath(shop, path)}">See all, from the first page</a></p>`;
    return page(layout(visit, { ...frame, content, shop }), 400);
  }
}

/** Where data comes from, for lists without any. */
export function sourcesLink({ shop }: ShopVisit): Html {
  return html`<a class="button" href="${shopPath(shop, '/sources')}">Go to Sources</a>`;
}
