import type { ShopRight } from '../../accounts/rights.ts';
import type { z } from 'zod';
import { type Figures, readFigures } from '../../metrics/segments/figures.ts';
import type { Answer } from '../../http/answer.ts';
import type { Html, HtmlValue } from '../../http/html.ts';
import type { OwnerParts, ShopVisit } from '../pages.ts';
import { type PageInfo, shopPath } from '../site.ts';
import type { HomesVisit, NamedRecord } from './homes.ts';
import { type View, segmentOf, viewQuery } from '../view/view.ts';
import { type FilterShape, type Texts, choice, parseFilters, textsOf } from './address.ts';
import type { PlaceSchema } from './cursor.ts';
import type { EmptyList } from './empty.ts';
import { ServiceError } from '../../errors.ts';
import { add, parseDecimal, subtract, zero } from '../../money.ts';
import { rounded } from '../ui/formats.ts';
import { type Chosen, type Column, chosenIn } from './columns.ts';

/** A visit to a list, with what its address says. */
export interface ListVisit<
  Shape extends FilterShape = FilterShape,
  Order extends string = string,
> extends HomesVisit {
  readonly parts: OwnerParts;
  /** The last 30 days, for a list without pickers. */
  readonly view: View;
  readonly filters: z.output<z.ZodObject<Shape>>;
  /** The filters as the address has them. */
  readonly texts: Texts;
  readonly order: Order;
}

/** Reads figures of the shop, or of the segment in the address. */
export function figuresOf<Result>(
  { parts: { store }, shop, view }: Pick<ListVisit, 'parts' | 'shop' | 'view'>,
  work: (figures: Figures) => Promise<Result>,
): Promise<Result> {
  return store.readRecent(shop.id, (from) => readFigures(from, shop, segmentOf(view), work));
}

/** Which rows are read. */
interface Page<Place, Order> {
  readonly order: Order;
  /** The last row of the page before. */
  readonly after: Place | undefined;
  readonly limit: number;
}

/** How many rows a list has: exactly, or more than are counted. */
export type RowCount = number | { readonly moreThan: number };

/** As many as are counted at most. @param found at most one more */
export const upTo = (most: number, found: number): RowCount =>
  found > most ? { moreThan: most } : found;

/** More rows are not summed. */
const maxSummed = 1_000;

/** How many rows a list has, and what they are worth; undefined if they are too many. */
export interface RowSum<Count = RowCount> {
  readonly count: Count;
  readonly worth: number | undefined;
}

/** @param read the first rows @param known how many there are, if that is known */
export async function sumRows(
  { shop }: Pick<ShopVisit, 'shop'>,
  read: (page: {
    readonly after: undefined;
    readonly limit: number;
  }) => Promise<readonly { readonly value: string | null }[]>,
  known?: number,
): Promise<RowSum> {
  if (known !== undefined && known > maxSummed) return { count: known, worth: undefined };
  const rows = await read({ after: undefined, limit: maxSummed + 1 });
  const sum = rows.reduce((total, { value }) => add(total, parseDecimal(value ?? '0')), zero);
  return {
    count: known ?? upTo(maxSummed, rows.length),
    worth: rows.length > maxSummed ? undefined : rounded(sum, shop),
  };
}

/** Orders that many lists have, as their links say them. */
export const timeOrders = { newest: 'Newest first', oldest: 'Oldest first' } as const;
export const valueOrders = {
  highest: 'Highest worth first',
  lowest: 'Lowest worth first',
} as const;

/**
 * A page of rows by worth, then by time, both in one direction, of a list that no index has by worth: of those that are
 * summed anyway.
 * @param read the first rows by time @param place what the rows are sorted by
 * @throws ServiceError invalid, if they are too many
 */
export async function rowsByWorth<Row, Place extends Worth>(
  read: (limit: number) => Promise<readonly Row[]>,
  { order, after, limit }: Page<Place, 'highest' | 'lowest'>,
  placeOf: (row: Row) => Place,
): Promise<Row[]> {
  const rows = await read(maxSummed + 1);
  if (rows.length > maxSummed) {
    throw new ServiceError(
      'invalid',
      `At most ${maxSummed} rows are sorted by what they are worth. Choose a shorter period, or a filter.`,
    );
  }
  const sign = order === 'highest' ? -1 : 1;
  const sorted = rows
    .map((row) => ({ row, place: placeOf(row) }))
    .toSorted((one, other) => sign * compareWorth(one.place, other.place));
  return sorted
    .filter(({ place }) => after === undefined || sign * compareWorth(place, after) > 0)
    .slice(0, limit)
    .map(({ row }) => row);
}

interface Worth {
  readonly value: string;
  readonly createdAt: number;
  readonly id: number;
}

function compareWorth(one: Worth, other: Worth): number {
  const { numerator } = subtract(parseDecimal(one.value), parseDecimal(other.value));
  return Number(numerator) || one.createdAt - other.createdAt || one.id - other.id;
}

/** Links that choose the value of a filter. */
export interface FilterLinks<Visit, Summary> {
  readonly name: string;
  readonly label: string;
  /** What there is without the filter, if that is not all. */
  readonly none?: string;
  /** Another filter, which holds only with the value that is chosen. */
  readonly ends?: string;
  readonly options: Either<
    Readonly<Record<string, readonly [label: string, ...unknown[]]>>,
    [visit: Visit, summary: Summary]
  >;
}

/** A choice of a value of a filter, in a form. */
interface FilterSelect<Summary> {
  readonly name: string;
  readonly label: string;
  readonly none: string;
  readonly options: (summary: Summary) => readonly (readonly [value: string, label: string])[];
}

/**
 * A list of a shop's rows, as data: its page, its file, what they are filtered and sorted by, and where a page begins
 * are loops over it.
 */
export interface List<
  Row,
  Summary,
  Shape extends FilterShape,
  Place extends PlaceSchema,
  Order extends string,
  Visit = ListVisit<Shape, Order>,
> extends Omit<PageInfo, 'right'> {
  /** `figures` by default. */
  readonly right?: ShopRight;
  /** @throws ServiceError notFound, for a path without a list */
  readonly title: Either<string, [visit: HomesVisit, now: number]>;
  /** The records that its page is about, beside those in its rows. */
  about?(visit: ShopVisit, summary: Summary): readonly NamedRecord[];
  /** What the rows are, in the plural. */
  readonly noun: string;
  /** The same in the name of the file, if it differs. */
  readonly fileNoun?: Either<string, [visit: ShopVisit]>;
  /** For screen readers; the order follows. */
  readonly caption: Either<string, [visit: Visit]>;
  /** A period or a segment that the address chooses. */
  readonly pickers: Either<readonly ('period' | 'segment')[], [query: URLSearchParams]>;
  /** Changes what the address says, such as a period that makes no difference. */
  view?(view: View, query: URLSearchParams): View;
  /** The filters that a change of the period or the segment ends. */
  readonly endWithView?: readonly (keyof Shape & string)[];
  readonly filters: Shape;
  readonly links?: Either<FilterLinks<Visit, Summary>, [visit: Visit]>;
  readonly selects?: readonly FilterSelect<Summary>[];
  /** The first is the one without `order` in the address. */
  readonly orders: Readonly<Record<Order, string>>;
  /** Whether its rows can be sorted so, if that depends on how many there are. */
  canSort?(summary: Summary, order: Order): boolean;
  readonly place: Place;
  placeOf(row: Row): z.output<Place>;
  /** The rows after a place, at most as many as the limit. */
  read(visit: Visit, page: Page<z.output<Place>, Order>): Promise<readonly Row[]>;
  /** How many rows of the file are read at once, if not as many as usual. */
  readonly rowsPerRead?: number;
  /** What all pages of it come to, and what its filters can be. */
  summarise(visit: Visit): Promise<Summary>;
  /**
   * How many rows all pages have; undefined if that is not known. Without it, a page counts the first 1,000 rows with its
   * own.
   */
  count?(visit: Visit, summary: Summary, rows: readonly Row[]): RowCount | undefined;
  /** What it has, in a sentence or two; the rows are those of the page. */
  head?(visit: Visit, summary: Summary, rows: readonly Row[]): Html | undefined;
  /** Above its filters, such as forms that find rows by number. */
  above?(visit: Visit, summary: Summary): HtmlValue;
  /** The form around its rows, if these have buttons. */
  form?(visit: Visit, rows: Html): Html;
  readonly columns: Either<readonly Column<Row, Summary>[], [visit: Visit]>;
  /** Shown if there are no rows without any filter. */
  readonly empty: Either<EmptyList, [visit: ShopVisit]>;
  /** The page around it, if that is not the usual one. */
  frame?(
    visit: HomesVisit,
    page: { readonly title: string; readonly content: Html; readonly status: number },
  ): Answer;
}

/** What is the same for all visits, or depends on one. */
type Either<Value, Given extends readonly unknown[]> = Value | ((...given: Given) => Value);

export function valueOf<Value, Given extends readonly unknown[]>(
  either: Either<Value, Given>,
  ...given: Given
): Value {
  return typeof either === 'function' ? (either as (...given: Given) => Value)(...given) : either;
}

/** A list of any filters, orders and places, as the framework handles all of them. */
export type AnyList<Row, Summary> = List<Row, Summary, FilterShape, PlaceSchema, string>;

/** A list with what an address says of it. */
export interface OpenList<Row, Summary> {
  readonly list: AnyList<Row, Summary>;
  /** The list's orders by which a column sorts on this visit. */
  readonly orders: Readonly<Record<string, string>>;
  readonly visit: ListVisit;
  /** Of its page, without the query. */
  readonly path: `/app${string}`;
  readonly columns: readonly Column<Row, Summary>[];
  readonly chosen: Chosen;
  /** Rows per page. */
  readonly limit: number;
  /** What chooses the rows, as the address has it. */
  readonly query: Texts;
}

/** The default of the API. */
export const defaultRows = 50;
/** What a reader can choose; the last is the API's maximum. */
export const rowsPerPage = { [defaultRows]: '50 rows', 100: '100 rows' } as const;

/** @throws ServiceError invalid */
export function openList<Row, Summary>(
  list: AnyList<Row, Summary>,
  parts: OwnerParts,
  visit: ShopVisit,
  view: View,
): OpenList<Row, Summary> {
  const texts = textsOf(visit.query, list.filters);
  const filters = parseFilters(list.filters, texts);
  const [firstOrder = ''] = Object.keys(list.orders);
  const unordered = { ...visit, parts, view, filters, texts, order: firstOrder };
  const columns = valueOf(list.columns, unordered);
  const orders = Object.fromEntries(
    Object.entries(list.orders).filter(([order]) => pairOf(columns, order)),
  );
  const shape = {
    order: choice('an order', orders),
    rows: choice('a number of rows', rowsPerPage),
    choose: choice('what this list lets you choose', ['columns']),
  };
  const { order = firstOrder, rows = defaultRows } = parseFilters(
    shape,
    textsOf(visit.query, shape),
  );
  return {
    list,
    orders,
    visit: { ...unordered, order },
    path: shopPath(visit.shop, ownPath(list, visit)),
    columns,
    chosen: chosenIn(visit.query, columns),
    limit: Number(rows),
    query: { ...Object.fromEntries(viewQuery(view)), ...texts },
  };
}

/** The order and its reverse, of the column that sorts by it. */
const pairOf = (columns: readonly Pick<Column<never>, 'sort'>[], order: string) =>
  columns.find(({ sort }) => sort?.includes(order))?.sort;

/** The same order from its other end, to which the head of a column turns it. */
export function reverseOf({
  columns,
  visit: { order },
}: Pick<OpenList<never, never>, 'columns' | 'visit'>): string {
  const pair = pairOf(columns, order);
  if (!pair) throw new TypeError(`No column sorts by ${order}`);
  return pair[0] === order ? pair[1] : pair[0];
}

/** The path of a list below that of the shop. */
export function ownPath({ path }: Pick<PageInfo, 'path'>, { params }: ShopVisit): string {
  return path.replace(/:(\w+)/g, (_, name) => encodeURIComponent(params[name] ?? ''));
}
