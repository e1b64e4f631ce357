import { ServiceError } from '../../errors.ts';
import { type Html, type HtmlValue, html } from '../../http/html.ts';
import type { ShopVisit } from '../pages.ts';
import type { Interval } from '../../store/records/subscriptions.ts';
import { type Tone, everyInterval, failureWords, state as stateWord } from '../ui/labels.ts';
import { moneyFormat, rounded, showDay } from '../ui/formats.ts';
import { parseDecimal } from '../../money.ts';
import { notOneOf } from '../view/choices.ts';
import type { Cell } from './csv.ts';
import { fromPage, shopPath } from '../site.ts';
import { type HomesVisit, type NamedRecord, homeOf, showId } from './homes.ts';

type ColumnKind =
  | 'head'
  | 'name'
  | 'number'
  | 'amount'
  | 'state'
  | 'date'
  | 'minor'
  | 'minor number';

/** A column of a list, on its page and in its file. */
export interface Column<Row, Summary = never> {
  readonly label: string;
  /**
   * head: the row's id, which is always shown; name: what the row is, first on phones; number and amount:
   * right-aligned; state: a word with a dot; date: last on phones; minor: only where there is room.
   */
  readonly kind?: ColumnKind | undefined;
  /** Whether the style sheet has its head for phones, which each of many rows would repeat. */
  readonly isStyled?: boolean;
  /** Undefined if only the file has it. */
  cell?: ((row: Row, visit: HomesVisit) => HtmlValue) | undefined;
  /** Its columns of the file, by their heads; none if only the page has it. */
  readonly file: Readonly<Record<string, (row: Row, visit: HomesVisit) => Cell>>;
  /** The record that it is about, to whose home its cell then leads; null if there is none. */
  names?: ((row: Row) => NamedRecord) | undefined;
  /** The orders of the list that sort by it; a click on its head begins with the second. */
  readonly sort?: readonly [ascending: string, descending: string] | undefined;
  /** What the cells of all pages come to. */
  sum?(summary: Summary, visit: ShopVisit): HtmlValue;
}

type Labelled = Pick<Column<never>, 'label' | 'kind'>;

/** What an entry may say differently. */
type More<Row, Summary> = Partial<Omit<Column<Row, Summary>, 'sum'>> & {
  /** In the file, if that is not the label. */
  readonly head?: string;
};

/** In the address that chooses columns. */
export const nameOf = ({ label }: Labelled) => label.toLowerCase().replaceAll(' ', '-');

/** The names of some columns; undefined for all. */
export type Chosen = ReadonlySet<string> | undefined;

/**
 * The columns that an address chooses, as its links and the boxes of its form have them.
 * @throws ServiceError invalid
 */
export function chosenIn(query: URLSearchParams, columns: readonly Labelled[]): Chosen {
  const names = query.getAll('columns').flatMap((each) => each.split(',').filter(Boolean));
  const known = columns.filter(({ kind }) => kind !== 'head').map(nameOf);
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw new ServiceError('invalid', notOneOf(unknown, 'a column', known));
  }
  return names.length === 0 ? undefined : new Set(names);
}

/** Of the chosen columns, those of another list; all of it if it has none of them. */
export function chosenAmong(chosen: Chosen, columns: readonly Labelled[]): Chosen {
  const names = columns.map(nameOf).filter((name) => chosen?.has(name));
  return names.length === 0 ? undefined : new Set(names);
}

export const isChosen = (column: Labelled, chosen: Chosen) =>
  !chosen || column.kind === 'head' || chosen.has(nameOf(column));

type Named = 'subscription' | 'customer';
/** Rows that are of a record, or of none. */
type RowOf<Kind extends Named> = { readonly [Id in `${Kind}Id`]: number | null };

/** A record by its id at its source. @param isHead whether the row is about it */
function record<Kind extends Named>(kind: Kind, isHead: boolean): Column<RowOf<Kind>> {
  const label = kind === 'customer' ? 'Customer' : 'Subscription';
  const idOf = (row: RowOf<Kind>) => row[`${kind}Id`];
  return {
    label,
    kind: isHead ? 'head' : 'minor',
    cell(row, visit) {
      const id = idOf(row);
      if (id === null) return html`<span class="quiet">None</span>`;
      const path = fromPage(visit, shopPath(visit.shop, `/${kind}s/${id}`));
      const shown = showId(visit, kind, id);
      // That of its head is over the whole row.
      return html`<a href="${path}">${shown}</a>`;
    },
    file: {
      [label]: idOf,
      [`${label} at source`]: (row, visit) => homeOf(visit, kind, idOf(row))?.sourceId ?? null,
    },
    names: (row) => [kind, idOf(row)],
  };
}

export const subscription = record('subscription', true);
export const customer = record('customer', false);
/** Of lists whose rows are customers, each with a subscription. */
export const customerHead = record('customer', true);
export const itsSubscription = record('subscription', false);
/** The first one of a customer. */
export const firstSubscription: typeof subscription = {
  ...itsSubscription,
  label: 'First subscription',
};

export const plan: Column<{ readonly planName: string }> = {
  label: 'Plan',
  kind: 'name',
  cell: ({ planName }) => planName,
  file: { Plan: ({ planName }) => planName },
};

/** With the plan's number in the file. */
export const numberedPlan: Column<{ readonly planId: number; readonly planName: string }> = {
  ...plan,
  file: { 'Plan number': ({ planId }) => planId, ...plan.file },
};

/** Why a payment failed, in words; the file has the code. */
export const failure: Column<{ readonly failureCode: string | null }> = {
  label: 'Failure',
  kind: 'name',
  cell: ({ failureCode }) => failureWords(failureCode),
  file: { 'Failure code': ({ failureCode }) => failureCode },
};

/** How often a subscription is billed. */
export const interval: Column<Interval> = {
  label: 'Billed',
  kind: 'minor',
  cell: (row, visit) => everyInterval(visit, row),
  file: {
    'Billed every (count)': ({ count }) => count,
    'Billed every (unit)': ({ unit }) => unit,
  },
};

/** A text or a number; null is a dash, and nothing in the file. */
export function text<Row, Summary>(
  label: string,
  value: (row: Row) => string | number | null,
  { head = label, ...more }: More<Row, Summary> = {},
): Column<Row, Summary> {
  return { label, cell: (row) => value(row) ?? '–', file: { [head]: value }, ...more };
}

/** A state as a word with a coloured dot. */
export function state<Row, Summary>(
  label: string,
  value: (row: Row) => readonly [word: string, tone: Tone],
  { head = label, ...more }: More<Row, Summary> = {},
): Column<Row, Summary> {
  return {
    label,
    kind: 'state',
    cell: (row) => stateWord(value(row)),
    file: { [head]: (row) => value(row)[0] },
    ...more,
  };
}

/** The day of a time, epoch milliseconds; the whole time in the file. */
export function time<Row, Summary>(
  label: string,
  value: (row: Row) => number,
  { head = `${label} (UTC)`, ...more }: More<Row, Summary> = {},
): Column<Row, Summary> {
  return {
    label,
    kind: 'date',
    cell: (row, visit) => showDay(visit, new Date(value(row))),
    file: { [head]: (row) => new Date(value(row)).toISOString() },
    ...more,
  };
}

/** An amount in the shop's currency, which is a column of its own in the file. */
export function money<Row, Summary>(
  label: string,
  value: (row: Row, visit: ShopVisit) => number | null,
  {
    head = label,
    sum,
    ...more
  }: More<Row, Summary> & {
    /** Undefined if it is not known. */
    readonly sum?: (summary: Summary, visit: ShopVisit) => number | undefined;
  } = {},
): Column<Row, Summary> {
  return {
    label,
    kind: 'amount',
    cell(row, visit) {
      const amount = value(row, visit);
      return amount === null ? '–' : moneyText(visit, amount);
    },
    file: {
      [head]: value,
      Currency: (row, visit) => (value(row, visit) === null ? null : visit.shop.currency),
    },
    ...(sum && {
      sum(summary, visit) {
        const amount = sum(summary, visit);
        return amount === undefined ? undefined : showMoney(visit, amount);
      },
    }),
    ...more,
  };
}

/** An amount that rows have as a decimal. */
export const decimal = <Row, Summary>(
  label: string,
  value: (row: Row) => string | null,
  more?: Parameters<typeof money<Row, Summary>>[2],
) =>
  money<Row, Summary>(
    label,
    (row, { shop }) => {
      const exact = value(row);
      return exact === null ? null : rounded(parseDecimal(exact), shop);
    },
    more,
  );

/** @param plus what precedes amounts above 0 */
export function moneyText(visit: ShopVisit, amount: number, plus = ''): string {
  const sign = amount === 0 ? '' : amount < 0 ? '−' : plus;
  return sign + moneyFormat(visit)(Math.abs(amount));
}

/** The same within a sentence, which may run in the other direction. */
export const showMoney = (...given: Parameters<typeof moneyText>): Html =>
  html`<bdi>${moneyText(...given)}</bdi>`;
