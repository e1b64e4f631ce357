import { findIntervalWords } from './plan-roles.ts';
import type { RowKind } from './kind.ts';
import { type Roles, usedTimes } from './roles.ts';
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

const shownLength = 40;

const choicesOf = (labels: Readonly<Record<string, string>>): readonly Choice[] =>
  Object.entries(labels).map(([value, label]) => ({ value, label }));

const kinds = choicesOf({
  subscription: 'A subscription',
  payment: 'A payment or an invoice',
  refund: 'A refund',
  plan: 'A plan',
  none: 'Something else',
});

const meanings = choicesOf({
  active: 'Active',
  paused: 'Paused',
  cancelled: 'Cancelled',
  expired: 'Expired',
  failed: 'Ended because payments failed',
  skip: 'No subscription: leave these rows out',
});

/** Of a text that is not known: nothing is guessed. */
const refused: Choice = { value: '', label: 'Not known: refuse these rows' };

const intervals = {
  'week:1': 'Every week',
  'month:1': 'Every month',
  'month:3': 'Every 3 months',
  'month:6': 'Every 6 months',
  'year:1': 'Every year',
};

const units = choicesOf({ day: 'Days', week: 'Weeks', month: 'Months', year: 'Years' });

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

/** Asked where it is open, or was answered. */
type Open = Question & { readonly isOpen: boolean };

/** What the choice of columns leaves open. */
function questionsOfSubscriptions(table: Table, roles: Roles, answers: Answers): Question[] {
  const { status, price, quantity, interval, tenure, times } = roles;
  const words = findIntervalWords(table.columns.filter((column) => column !== status?.column));
  const used = usedTimes(roles);
  const order = used.find(({ doubt }) => doubt !== undefined) ?? used[0] ?? times[0];
  const [sample = ''] = order?.column.values ?? [];
  const amount = price?.column.values.find((each) => /[.,]/.test(each)) ?? '';
  const digits = amount.replaceAll(/[^\d.,]/g, '');
  const candidates: readonly (Open | false | undefined)[] = [
    price?.isAmbiguous && {
      isOpen: true,
      id: 'separator',
      label: `How much is “${amount}” in “${price.column.name}”?`,
      choices: choicesOf({
        thousands: digits.replaceAll(/[.,]/g, ''),
        decimal: digits.replace(',', '.'),
      }),
      chosen: answers.get('separator') ?? 'thousands',
    },
    quantity &&
      price && {
        isOpen: true,
        id: 'quantity',
        label: `“${price.column.name}” is the price of one, or of all “${quantity.name}” together?`,
        choices: choicesOf({ one: 'Of one', all: 'Of all together' }),
        chosen: price.isTotal ? 'all' : 'one',
      },
    interval.kind === 'constant' &&
      interval.interval && {
        isOpen: interval.doubt !== undefined,
        id: 'interval',
        label: 'How often is the price charged?',
        choices: choicesOf({
          ...intervals,
          ...(words && { [byColumn]: `As “${words.name}” says` }),
        }),
        chosen: `${interval.interval.unit}:${interval.interval.count}`,
      },
    interval.kind === 'counted' &&
      interval.interval && {
        isOpen: interval.doubt !== undefined,
        id: 'unit',
        label: `“${interval.columns[0]?.name}” is a number of what?`,
        choices: units,
        chosen: interval.interval.unit,
      },
    tenure && {
      isOpen: tenure.isUnsure,
      id: 'tenure',
      label: `“${tenure.column.name}” is how long a customer has been there, in what?`,
      choices: units,
      chosen: tenure.time.replace(/s-ago$/, ''),
    },
    order && {
      isOpen: used.includes(order) && order.doubt !== undefined,
      id: 'order',
      label: `How does the file write dates, such as “${sample.slice(0, shownLength)}”?`,
      choices: choicesOf({ day: 'Day first, then month', month: 'Month first, then day' }),
      chosen: isDayFirst(order.time) ? 'day' : 'month',
    },
  ];
  const asked = candidates.flatMap((each) => {
    if (!each) return [];
    const { isOpen, ...question } = each;
    return isOpen || answers.has(question.id) ? [question] : [];
  });
  return [...askMeanings(status, answers), ...asked];
}

function askMeanings(status: StatusRole | undefined, answers: Answers): Question[] {
  if (!status) return [];
  const { column, meanings: known, unknown, blank } = status;
  const all: [string, StatusRole['blank'] | undefined][] = [...known];
  if (column.filled < column.texts.length) all.push(['', blank]);
  all.unshift(...unknown.map((text): [string, undefined] => [text, undefined]));
  return all
    .filter(([text, meaning]) => !meaning || meaning.isUnsure || answers.has(`meaning:${text}`))
    .map(([text, meaning]) => ({
      id: `meaning:${text}`,
      label:
        text === ''
          ? `What are rows without a value in “${column.name}”?`
          : `What does “${text.slice(0, shownLength)}” mean in “${column.name}”?`,
      choices: meaning ? meanings : [refused, ...meanings],
      chosen: meaning?.status ?? refused.value,
    }));
}
