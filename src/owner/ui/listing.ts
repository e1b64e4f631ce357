import { ServiceError } from '../../errors.ts';
import type { Answer } from '../../http/answer.ts';
import { type Html, type HtmlValue, html } from '../../http/html.ts';
import { page } from './answers.ts';
import type { ShopVisit } from '../pages.ts';
import { alert, layout, shopPath } from './layout.ts';

/** Rows of a page, as many as the API gives unasked. */
export const rowsPerPage = 50;

type Address = `/app${string}`;
type Query = Readonly<Record<string, string | undefined>>;

export interface Column<Row> {
  readonly label: string;
  /** head: what the row is called; number and amount: to the right; state: a word with a dot. */
  readonly kind?: 'head' | 'number' | 'amount' | 'state';
  cell(row: Row): HtmlValue;
}

export interface Listing<Row> {
  /** What the rows are, for whoever hears the table. */
  readonly caption: string;
  /** The page's own, without its query. */
  readonly path: Address;
  /** What the address narrows the rows by. */
  readonly narrowed: Query;
  /** The parameter that has a link for each of its words. */
  readonly filter: {
    readonly name: string;
    readonly label: string;
    readonly words: Readonly<Record<string, readonly [label: string, ...unknown[]]>>;
  };
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  /** Where the page begins; undefined for the first one. */
  readonly cursor: string | undefined;
  readonly nextCursor: string | null;
  /** Other ways to a row, where there are any. */
  readonly openers?: Html;
  /** Where nothing was asked for in particular: what will be here, and what brings it. */
  readonly whereNone: Html;
}

/** What the address says of a parameter. An empty one, as forms send it, says nothing. */
export function parameter(visit: ShopVisit, name: string): string | undefined {
  return visit.query.get(name) || undefined;
}

function address(path: Address, query: Query): Address {
  const said = Object.entries(query).filter(
    (pair): pair is [string, string] => pair[1] !== undefined,
  );
  return said.length === 0 ? path : `${path}?${new URLSearchParams(said)}`;
}

/** A table by pages, with a link for each filter; all of what it shows is in the address. */
export function listing<Row>(parts: Listing<Row>): Html {
  const { path, narrowed, cursor, nextCursor, rows, openers, whereNone } = parts;
  const isWhole = cursor === undefined && Object.values(narrowed).every((each) => !each);
  if (isWhole && rows.length === 0) return html`<div class="card">${whereNone}</div>`;
  const first = address(path, narrowed);
  const next = nextCursor === null ? undefined : address(path, { ...narrowed, cursor: nextCursor });
  return html`<div class="listing">
    ${openers} ${filters(parts)}
    ${
      rows.length === 0
        ? html`<p class="quiet">There is none like that. <a href="${path}">See all</a></p>`
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
  </div>`;
}

function filters<Row>({ path, narrowed, filter }: Listing<Row>): Html {
  const chosen = narrowed[filter.name];
  const link = (value: string | undefined, label: string) =>
    html`<a
      href="${address(path, { ...narrowed, [filter.name]: value })}"
      ${value === chosen ? html`aria-current="true"` : undefined}
      >${label}</a
    >`;
  return html`<div class="filters" role="group" aria-label="${filter.label}">
    ${link(undefined, 'All')}
    ${Object.entries(filter.words).map(([value, [label]]) => link(value, label))}
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
    <caption class="unseen">
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

/** The link of a row, which all of the row is part of. */
export function rowLink(path: Address, label: HtmlValue): Html {
  return html`<a class="row" href="${path}">${label}</a>`;
}

interface ListingPage {
  readonly title: string;
  readonly current: 'subscriptions' | 'cancelFlow';
  readonly path: string;
  readonly status?: number;
}

/** A page with a listing. What the API refuses in the address, the page says, with a way on. */
export async function listingPage(
  visit: ShopVisit,
  { title, current, path, status }: ListingPage,
  build: () => Promise<Html>,
): Promise<Answer> {
  const { shop } = visit;
  try {
    const content = await build();
    return page(layout(visit, { title, content, shop, current }), status);
  } catch (error) {
    if (!(error instanceof ServiceError && error.kind === 'invalid')) throw error;
    const content = html`${alert(error.message)}
      <p><a href="${shopPath(shop, path)}">See all, from the first page</a></p>`;
    return page(layout(visit, { title, content, shop, current }), 400);
  }
}

/** What brings the first rows of a shop. */
export function importCommand({ shop }: ShopVisit): Html {
  return html`<pre><code>retention import --shop ${shop.id} FILE</code></pre>`;
}
