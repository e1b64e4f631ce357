import { hasEmailAddress } from '../../records/values.ts';
import { displayText } from '../field-reader.ts';
import type { RoleContext, Use } from './answers.ts';
import type { ColumnUse } from './document.ts';
import { addressColumns, idCandidates } from './id-roles.ts';
import {
  amountColumns,
  chosenShare,
  currencyCandidates,
  quantityCandidates,
} from './money-roles.ts';
import { intervalCandidates, planCandidates } from './plan-roles.ts';
import type { Roles } from './roles.ts';
import { statusCandidates } from './status-role.ts';
import type { Column, Table } from './table.ts';
import { tenureCandidates } from './time-roles.ts';

/** A column of the file, as a person sees it who is to say what it is. */
export interface ColumnView extends ColumnUse {
  /** The first values; none if they may be personal. */
  readonly samples: readonly string[];
  /** What the values are, if they are not shown. */
  readonly hidden: string | undefined;
  /** What it is taken for: the id of an answer, or the empty text. */
  readonly use: string;
  /** What its values could be. */
  readonly choices: readonly string[];
}

/** What columns can be, by the ids of answers, most telling first. */
export type Uses = Readonly<Record<string, Use>>;

const use = (taken: Column | undefined, fitting: readonly Column[]): Use => ({ taken, fitting });

/** What columns of subscriptions can be. */
export function usesOfSubscriptions(
  { columns, rows }: Table,
  roles: Roles,
  context: RoleContext,
): Uses {
  const usable = columns.filter(({ isLoaders }) => !isLoaders);
  const times = roles.times.map(({ column }) => column);
  const ids = idCandidates(usable, rows.length);
  const amounts = amountColumns(usable, context, chosenShare);
  return {
    customer: use(roles.ids.customer?.columns[0], [...ids, ...addressColumns(usable, rows.length)]),
    subscription: use(roles.ids.subscription?.columns[0], ids),
    plan: use(roles.plan?.name, planCandidates(usable)),
    status: use(roles.status?.column, statusCandidates(usable)),
    start: use(roles.tenure?.column ?? roles.start?.column, [
      ...times,
      ...tenureCandidates(usable),
    ]),
    ended: use(roles.ended?.column, times),
    price: use(
      roles.price?.column,
      amounts.map(({ column }) => column),
    ),
    interval: use(roles.interval.columns[0], intervalCandidates(usable)),
    units: use(roles.quantity, quantityCandidates(usable)),
    currency: use(roles.currency, currencyCandidates(usable)),
    next: use(roles.next?.column, times),
    paidThrough: use(roles.paidThrough?.column, times),
    updated: use(roles.updated?.column, times),
    trialEnd: use(roles.trialEnd?.column, times),
  };
}

/** All columns of a table, with what each is taken for and could be. */
export function viewColumns(
  columns: readonly Column[],
  known: readonly ColumnUse[],
  uses: Uses,
): ColumnView[] {
  return columns.map((column, index) => {
    const found = Object.entries(uses).find(([, { taken }]) => taken === column);
    const of = known[index] as ColumnUse;
    const shown = samplesOf(column, found !== undefined || of.role !== undefined);
    // About addresses, nothing else is asked.
    const fits = ([id, { fitting }]: [string, Use]) =>
      fitting.includes(column) && (shown.hidden !== addresses || id === 'customer');
    const choices = Object.entries(uses).filter((each) => each[0] === found?.[0] || fits(each));
    return { ...of, ...shown, use: found?.[0] ?? '', choices: choices.map(([id]) => id) };
  });
}

const addresses = 'e-mail addresses';
const shownValues = 3;
const fewTexts = 5;
const shownCharacters = 40;
/** Numbers, dates and amounts; ids and codes, which have a digit and no space. */
const plain = /^[\d\s.,:+\-/'’%\p{Sc}]*$|^[A-Z]{3} ?[\d.,]+$|^(?=.*\d)[\w:./-]+$/u;

const hide = (hidden: string) => ({ samples: [], hidden });

/** The first values of a column, unless they may be names, addresses or other texts about people. */
function samplesOf(column: Column, isUsed: boolean): Pick<ColumnView, 'samples' | 'hidden'> {
  const texts = column.values;
  const first = texts.slice(0, shownValues);
  if (first.length === 0) return hide('no values');
  if (texts.some(hasEmailAddress)) return hide(addresses);
  if (column.is('contact')) return hide('contact details');
  const isId = column.is('customer') || !isUsed;
  const areFew = texts.length <= fewTexts && texts.length < column.filled;
  const repeats = (areFew || texts.length * 2 <= column.filled) && !column.is('personal');
  const isPlain = first.every((text) => plain.test(text));
  if ((isId || (column.is('personal') && !column.is('plan'))) && !isPlain && !repeats) {
    return hide('texts');
  }
  const samples = first.map((text) =>
    text.length > shownCharacters ? `${text.slice(0, shownCharacters)}…` : displayText(text),
  );
  return { samples, hidden: undefined };
}
