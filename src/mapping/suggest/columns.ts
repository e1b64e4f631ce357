import { hasEmailAddress } from '../../ingest/source-ids.ts';
import { displayText } from '../field-reader.ts';
import type { Answers } from './answers.ts';
import type { ColumnUse } from './document.ts';
import { addressColumns, idCandidates } from './id-roles.ts';
import type { RowKind } from './kind.ts';
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

/** What columns of subscriptions can be: the ids of answers, most telling first. */
const all = [
  ...(['customer', 'subscription', 'plan', 'status', 'start', 'ended', 'price'] as const),
  ...(['interval', 'units', 'currency', 'next', 'paidThrough', 'updated'] as const),
];
type Use = (typeof all)[number];

interface Looking {
  readonly uses: readonly ColumnUse[];
  readonly kind: RowKind;
  /** Whether it is a known export, about which nobody is asked. */
  readonly isKnown: boolean;
  readonly minorDigits: number;
  readonly answers: Answers;
}

/** All columns of a table, with what each is taken for and could be. */
export function viewColumns(
  { columns, rows }: Table,
  roles: Roles,
  { uses, kind, isKnown, minorDigits, answers }: Looking,
): ColumnView[] {
  const isAsked = !isKnown && (kind.type === 'subscription' || kind.type === undefined);
  const usable = columns.filter(({ isLoaders }) => !isLoaders);
  const times = roles.times.map(({ column }) => column);
  const ids = idCandidates(usable, rows.length);
  const context = { minorDigits, answers, minShare: chosenShare };
  const fitting: Readonly<Record<Use, readonly Column[]>> = {
    customer: [...ids, ...addressColumns(usable, rows.length)],
    subscription: ids,
    plan: planCandidates(usable),
    status: statusCandidates(usable),
    start: [...times, ...tenureCandidates(usable)],
    ended: times,
    price: amountColumns(usable, context).map(({ column }) => column),
    interval: intervalCandidates(usable),
    units: quantityCandidates(usable),
    currency: currencyCandidates(usable),
    next: times,
    paidThrough: times,
    updated: times,
  };
  const taken = usedColumns(roles);
  return columns.map((column, index) => {
    const use = isAsked ? (all.find((each) => taken[each] === column) ?? '') : '';
    const known = uses[index] as ColumnUse;
    const shown = samplesOf(column, use !== '' || known.role !== undefined);
    // About addresses, nothing is asked.
    const fits = (each: Use) =>
      fitting[each].includes(column) && (shown.hidden !== addresses || each === 'customer');
    const choices = all.filter((each) => each === use || fits(each));
    return {
      ...known,
      ...shown,
      use,
      choices: isAsked ? choices : [],
    };
  });
}

function usedColumns(roles: Roles): Readonly<Record<Use, Column | undefined>> {
  const { ids, plan, status, start, tenure, ended, price, interval } = roles;
  return {
    customer: ids.customer?.columns[0],
    subscription: ids.subscription?.columns[0],
    plan: plan?.name,
    status: status?.column,
    start: tenure?.column ?? start?.column,
    ended: ended?.column,
    price: price?.column,
    interval: interval.columns[0],
    units: roles.quantity,
    currency: roles.currency,
    next: roles.next?.column,
    paidThrough: roles.paidThrough?.column,
    updated: roles.updated?.column,
  };
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
