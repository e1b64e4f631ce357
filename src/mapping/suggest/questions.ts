import { findIntervalWords } from './plan-roles.ts';
import type { RowKind } from './kind.ts';
import type { RoleContext, Roles } from './roles.ts';
import type { StatusRole } from './status-role.ts';
import type { Table } from './table.ts';
import { type TimeRole, isDayFirst } from './time-roles.ts';
import { type Answers, byColumn } from './answers.ts';

/** What only a person can know about a file, in plain words. */
export interface Question {
  readonly id: string;
  readonly label: string;
  readonly choices: readonly Choice[];
  /** The value of the choice that was guessed, or made. */
  readonly chosen: string;
}

interface Choice {
  readonly value: string;
  readonly label: string;
}

interface Asking {
  readonly table: Table;
  readonly roles: Roles;
  readonly minorDigits: number;
  readonly answers: Answers;
}

/** More texts are not asked about; they are all read as the most likely one. */
const maxMeanings = 8;
const shownLength = 40;

/**
 * The questions about a table: where a wrong guess would change figures unseen, and those that were answered, so
 * that an answer can be changed.
 */
export function questionsOf(
  table: Table,
  roles: Roles,
  { minorDigits, answers, kind }: Pick<RoleContext, 'minorDigits' | 'answers'> & { kind: RowKind },
): Question[] {
  const asking: Asking = { table, roles, minorDigits, answers };
  const isKnown = kind.type === 'subscription' && !kind.isUnsure && !answers.has('kind');
  const askKind = {
    id: 'kind',
    label: 'What is each row of the file?',
    choices: kinds,
    chosen: kind.type ?? 'none',
  };
  return [
    isKnown ? undefined : askKind,
    ...(kind.type === 'subscription' || kind.type === undefined
      ? questionsOfSubscriptions(asking)
      : []),
  ].filter((question) => question !== undefined && question.choices.length > 1) as Question[];
}

const kinds: readonly Choice[] = [
  { value: 'subscription', label: 'A subscription' },
  { value: 'payment', label: 'A payment or an invoice' },
  { value: 'refund', label: 'A refund' },
  { value: 'plan', label: 'A plan' },
  { value: 'none', label: 'Something else' },
];

function questionsOfSubscriptions(asking: Asking): (Question | undefined)[] {
  return [
    ...askMeanings(asking),
    askSeparator(asking),
    askQuantity(asking),
    askInterval(asking),
    askUnit(asking),
    askTenure(asking),
    askOrder(asking),
  ];
}

const meanings: readonly Choice[] = [
  { value: 'active', label: 'Active' },
  { value: 'paused', label: 'Paused' },
  { value: 'cancelled', label: 'Cancelled' },
  { value: 'expired', label: 'Expired' },
  { value: 'failed', label: 'Ended because payments failed' },
  { value: 'skip', label: 'No subscription: leave these rows out' },
];

function askMeanings({ roles: { status }, answers }: Asking): Question[] {
  if (!status) return [];
  const { column, meanings: known, blank } = status;
  const all: [string, StatusRole['blank']][] = [...known];
  if (column.filled < column.texts.length) all.push(['', blank]);
  return all
    .filter(([text, { isUnsure }]) => isUnsure || answers.has(`meaning:${text}`))
    .slice(0, maxMeanings)
    .map(([text, { status: chosen }]) => ({
      id: `meaning:${text}`,
      label:
        text === ''
          ? `What are rows without a value in “${column.name}”?`
          : `What does “${text.slice(0, shownLength)}” mean in “${column.name}”?`,
      choices: meanings,
      chosen,
    }));
}

function askSeparator({ roles: { price }, answers }: Asking): Question | undefined {
  if (!price?.isAmbiguous) return undefined;
  const text = [...price.column.counts.keys()].find((each) => /[.,]/.test(each)) ?? '';
  const digits = text.replaceAll(/[^\d.,]/g, '');
  return {
    id: 'separator',
    label: `How much is “${text}” in “${price.column.name}”?`,
    choices: [
      { value: 'thousands', label: digits.replaceAll(/[.,]/g, '') },
      { value: 'decimal', label: digits.replace(',', '.') },
    ],
    chosen: answers.get('separator') ?? 'thousands',
  };
}

function askQuantity({ roles: { quantity, price } }: Asking): Question | undefined {
  if (!quantity || !price) return undefined;
  return {
    id: 'quantity',
    label: `“${price.column.name}” is the price of one, or of all “${quantity.name}” together?`,
    choices: [
      { value: 'one', label: 'Of one' },
      { value: 'all', label: 'Of all together' },
    ],
    chosen: price.isTotal ? 'all' : 'one',
  };
}

const intervals: readonly Choice[] = [
  { value: 'week:1', label: 'Every week' },
  { value: 'month:1', label: 'Every month' },
  { value: 'month:3', label: 'Every 3 months' },
  { value: 'month:6', label: 'Every 6 months' },
  { value: 'year:1', label: 'Every year' },
];

function askInterval({ table, roles, answers }: Asking): Question | undefined {
  const { interval, status } = roles;
  if (interval.kind !== 'constant') return undefined;
  if (interval.doubt === undefined && !answers.has('interval')) return undefined;
  const others = table.columns.filter((column) => column !== status?.column);
  const words = findIntervalWords(others);
  return {
    id: 'interval',
    label: 'How often is the price charged?',
    choices: [
      ...intervals,
      ...(words ? [{ value: byColumn, label: `As “${words.name}” says` }] : []),
    ],
    chosen: `${interval.interval.unit}:${interval.interval.count}`,
  };
}

const units: readonly Choice[] = [
  { value: 'day', label: 'Days' },
  { value: 'week', label: 'Weeks' },
  { value: 'month', label: 'Months' },
  { value: 'year', label: 'Years' },
];

function askUnit({ roles: { interval }, answers }: Asking): Question | undefined {
  if (interval.kind !== 'counted' || typeof interval.unit !== 'string') return undefined;
  if (interval.doubt === undefined && !answers.has('unit')) return undefined;
  return {
    id: 'unit',
    label: `“${interval.count.name}” is a number of what?`,
    choices: units,
    chosen: interval.unit,
  };
}

function askTenure({ roles: { tenure }, answers }: Asking): Question | undefined {
  if (!tenure?.isUnsure && !(tenure && answers.has('tenure'))) return undefined;
  return {
    id: 'tenure',
    label: `“${tenure.column.name}” is how long a customer has been there, in what?`,
    choices: units,
    chosen: tenure.time.replace(/s-ago$/, ''),
  };
}

const hasDoubt = ({ doubt }: TimeRole) => doubt !== undefined;

function askOrder({ roles, answers }: Asking): Question | undefined {
  const { start, ended, next, paidThrough, updated, times } = roles;
  const used = [start, ended, next, paidThrough, updated].filter((role) => role !== undefined);
  const role = used.find(hasDoubt) ?? (answers.has('order') ? (used[0] ?? times[0]) : undefined);
  if (!role) return undefined;
  const [sample = ''] = role.column.counts.keys();
  return {
    id: 'order',
    label: `How does the file write dates, such as “${sample.slice(0, shownLength)}”?`,
    choices: [
      { value: 'day', label: 'Day first, then month' },
      { value: 'month', label: 'Month first, then day' },
    ],
    chosen: isDayFirst(role.time) ? 'day' : 'month',
  };
}
