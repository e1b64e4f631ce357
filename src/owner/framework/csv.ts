import { Readable } from 'node:stream';
import type { Answer } from '../../http/answer.ts';
import { type Html, html } from '../../http/html.ts';
import type { Shop } from '../../store/shops.ts';
import { pageHeaders } from '../ui/page.ts';
import { isoDay } from '../view/view.ts';

export type Cell = string | number | null;

/** Text that a spreadsheet would run as a formula, also after spaces. */
const formula = /^\s*[=+\-@＝＋－＠|]|^[\t\r\n]/;

function textOf(cell: Cell): string {
  const text = String(cell ?? '');
  // A number is never a formula, and a negative one must stay a number.
  const safe = typeof cell === 'string' && formula.test(text) ? `'${text}` : text;
  // The last two separate cells for spreadsheets that guess, or in whose language the comma is for decimals.
  return /[",\r\n;\t]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** A line of a CSV file, RFC 4180. */
export function csvLine(cells: readonly Cell[]): string {
  return `${cells.map(textOf).join(',')}\r\n`;
}

type Cells = readonly (readonly Cell[])[];

/** Some rows at a time, so that files of any size need little memory. */
type Rows = AsyncIterable<Cells> | readonly Cells[];

interface File {
  readonly shop: Shop;
  /** What the rows are, in the file's name. */
  readonly noun: string;
  /** Epoch milliseconds. */
  readonly now: number;
  readonly heads: readonly string[];
  readonly rows: Rows;
}

/** RFC 4180, read as fast as it is received. docs/decisions/0022-pages.md */
export function csvFile({ shop, noun, now, heads, rows }: File): Answer<Readable> {
  const name = `${slugOf(shop)}-${noun}-${isoDay(now)}.csv`;
  return {
    status: 200,
    headers: {
      ...pageHeaders,
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': `attachment; filename="${name}"`,
    },
    body: Readable.from(textsOf(heads, rows), { objectMode: false }),
  };
}

/** Excel takes a file for UTF-8 only if it begins with this. */
const byteOrderMark = '\uFEFF';

async function* textsOf(heads: readonly string[], rows: Rows): AsyncGenerator<string> {
  yield byteOrderMark + csvLine(heads);
  for await (const some of rows) {
    if (some.length > 0) yield some.map(csvLine).join('');
  }
}

function slugOf({ id, name }: Shop): string {
  const slug = name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}/gu, '')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 60);
  return slug === '' ? `shop-${id}` : slug;
}

/**
 * The rows of a list, some read when those before were received. The first are read at once, so that a wrong filter is
 * refused before the file begins.
 * @param read the rows after a place
 */
export async function pagedRows<Place, Found extends { readonly next?: Place | undefined }>(
  read: (after?: Place) => Promise<Found>,
  rowsOf: (page: Found) => Cells,
): Promise<AsyncIterable<Cells>> {
  const first = await read();
  return (async function* () {
    for (let page = first; ;) {
      yield rowsOf(page);
      if (page.next === undefined) return;
      page = await read(page.next);
    }
  })();
}

/** A link to a table as a file. Not one that downloads what it leads to: that may be a page which asks for a proof. */
export function csvLink(path: `/app${string}`): Html {
  return html`<p class="quiet"><a class="file" href="${path}">Download CSV</a></p>`;
}
