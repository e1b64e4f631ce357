import type { PriceRole } from './money-roles.ts';
import { findIntervalWords } from './plan-roles.ts';
import type { RowKind } from './kind.ts';
import type { Roles } from './roles.ts';
import type { StatusRole } from './status-role.ts';
import type { Table } from './table.ts';
import { isDayFirst } from './time-roles.ts';
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

/** More texts are not asked about; they are all read as the most likely one. */
const maxMeanings = 8;
const shownLength = 40;

const kinds: readonly Choice[] = [
  { value: 'subscription', label: 'A subscription' },
  { value: 'payment', label: 'A payment or an invoice' },
  { value: 'refund', label: 'A refund' },
  { value: 'plan', label: 'A plan' },
  { value: 'none', label: 'Something else' },
];

const meanings: readonly Choice[] = [
  { value: 'active', label: 'Active' },
  { value: 'paused', label: 'Paused' },
  { value: 'cancelled', label: 'Cancelled' },
  { value: 'expired', label: 'Expired' },
  { value: 'failed', label: 'Ended because payments failed' },
  { value: 'skip', label: 'No subscription: leave these rows out' },
];

const intervals: readonly Choice[] = [
  { value: 'week:1', label: 'Every week' },
  { value: 'month:1', label: 'Every month' },
  { value: 'month:3', label: 'Every 3 months' },
  { value: 'month:6', label: 'Every 6 months' },
  { value: 'year:1', label: 'Every year' },
];

const units: readonly Choice[] = [
  { value: 'day', label: 'Days' },
  { value: 'week', label: 'Weeks' },
  { value: 'month', label: 'Months' },
  { value: 'year', label: 'Years' },
];

/**
 * The questions about a table: where a wrong guess would change figures unseen, and those that were answered, so
 * that an answer can be changed.
 */
export function questionsOf(
  table: Table,
  roles: Roles,
  { kind, answers }: { readonly kind: RowKind; readonly answers: Answers },
): Question[] {
  const isKnown = kind.type === 'subscription' && !kind.isUnsure && !answers.has('kind');
  const askKind = {
    id: 'kind',
    label: 'What is each row of the file?',
    choices: kinds,
    chosen: kind.type ?? 'none',
  };
  const isOther = kind.type !== 'subscription' && kind.type !== undefined;
  return [
    ...(isKnown ? [] : [askKind]),
    ...(isOther ? [] : questionsOfSubscriptions(table, roles, answers)),
  ].filter(({ choices }) => choices.length > 1);
}

/** What the choice of columns leaves open. */
function questionsOfSubscriptions(table: Table, roles: Roles, answers: Answers): Question[] {
  const { status, price, quantity, interval, start, tenure, ended, times } = roles;
  const words = findIntervalWords(table.columns.filter((column) => column !== status?.column));
  const used = [start, ended, roles.next, roles.paidThrough, roles.updated, roles.trialEnd].filter(
    (role) => role !== undefined,
  );
  const order = used.find(({ doubt }) => doubt !== undefined) ?? used[0] ?? times[0];
  const [sample = ''] = order?.column.values ?? [];
  /** Asked where it is open, or was answered. */
  const ask = (
    id: string,
    isOpen: boolean,
    label: string,
    choices: readonly Choice[],
    chosen: string,
  ): Question[] => (isOpen || answers.has(id) ? [{ id, label, choices, chosen }] : []);
  return [
    ...askMeanings(status, answers),
    ...askSeparator(price, answers),
    ...(quantity && price
      ? ask(
          'quantity',
          true,
          `“${price.column.name}” is the price of one, or of all “${quantity.name}” together?`,
          [
            { value: 'one', label: 'Of one' },
            { value: 'all', label: 'Of all together' },
          ],
          price.isTotal ? 'all' : 'one',
        )
      : []),
    ...(interval.kind === 'constant' && interval.interval
      ? ask(
          'interval',
          interval.doubt !== undefined,
          'How often is the price charged?',
          [...intervals, ...(words ? [{ value: byColumn, label: `As “${words.name}” says` }] : [])],
          `${interval.interval.unit}:${interval.interval.count}`,
        )
      : []),
    ...(interval.kind === 'counted' && interval.interval
      ? ask(
          'unit',
          interval.doubt !== undefined,
          `“${interval.columns[0]?.name}” is a number of what?`,
          units,
          interval.interval.unit,
        )
      : []),
    ...(tenure
      ? ask(
          'tenure',
          tenure.isUnsure,
          `“${tenure.column.name}” is how long a customer has been there, in what?`,
          units,
          tenure.time.replace(/s-ago$/, ''),
        )
      : []),
    ...(order
      ? ask(
          'order',
          used.includes(order) && order.doubt !== undefined,
          `How does the file write dates, such as “${sample.slice(0, shownLength)}”?`,
          [
            { value: 'day', label: 'Day first, then month' },
            { value: 'month', label: 'Month first, then day' },
          ],
          isDayFirst(order.time) ? 'day' : 'month',
        )
      : []),
  ];
}

function askMeanings(status: StatusRole | undefined, answers: Answers): Question[] {
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

function askSeparator(price: PriceRole | undefined, answers: Answers): Question[] {
  if (!price?.isAmbiguous) return [];
  const text = price.column.values.find((each) => /[.,]/.test(each)) ?? '';
  const digits = text.replaceAll(/[^\d.,]/g, '');
  const question = {
    id: 'separator',
    label: `How much is “${text}” in “${price.column.name}”?`,
    choices: [
      { value: 'thousands', label: digits.replaceAll(/[.,]/g, '') },
      { value: 'decimal', label: digits.replace(',', '.') },
    ],
    chosen: answers.get('separator') ?? 'thousands',
  };
  return [question];
}
