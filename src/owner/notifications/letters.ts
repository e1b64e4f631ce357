import {
  type Summary,
  type Figure,
  type DayOfHistory,
  figures as catalogue,
} from '../../metrics/figures.ts';
import {
  type Limit,
  type NotificationChoice,
  limits,
  noChoice,
} from '../../store/owners/notifications.ts';
import type { Shop } from '../../store/shops.ts';
import {
  countOf,
  dateFormat,
  englishReader,
  formatCount,
  formatMoney,
  formatShare,
} from '../ui/formats.ts';
import { showValue, wordsOf } from '../dashboard/changes.ts';
import type { Judged } from '../dashboard/dashboard.ts';
import { type Rows, textOf, verdictOf } from '../dashboard/verdict.ts';
import { isoDay, viewQuery } from '../view/view.ts';
import type { Letter } from './message.ts';

const written = (value: number) => formatCount(englishReader, value);
const share = (value: number) => formatShare(englishReader, value);
/** @param day such as 2026-11-16 */
const date = (day: string) => dateFormat('en', { dateStyle: 'medium' }).format(Date.parse(day));

/** A figure that an owner may set a limit for. */
interface LimitRule {
  valueOf(summary: Pick<Summary, 'churnRate30d' | 'dunningActive' | 'mrr'>): number;
  /** Whether values below the limit are told, instead of those above. */
  readonly isLeast?: boolean;
  say(value: number, limit: number, money: (amount: number) => string): string;
  readonly label: string;
  /** @param period as addresses have it */
  path(period: string): string;
}

const limitRules: Readonly<Record<Limit, LimitRule>> = {
  maxChurnRate: {
    valueOf: ({ churnRate30d }) => churnRate30d,
    say: (value, limit) =>
      `Churn of the last 30 days is ${share(value)}, above your limit of ${share(limit)}.`,
    label: 'See the churn of these 30 days',
    path: (period) => `/churn?${period}`,
  },
  maxOutstanding: {
    valueOf: ({ dunningActive }) => dunningActive,
    say: (value, limit) =>
      `Outstanding payments are ${written(value)}, above your limit of ${written(limit)}.`,
    label: 'See the outstanding payments',
    path: () => '/recovery/open',
  },
  minMrr: {
    valueOf: ({ mrr }) => mrr,
    isLeast: true,
    say: (value, limit, money) =>
      `Monthly recurring revenue is ${money(value)}, below your limit of ${money(limit)}.`,
    label: 'See what changed MRR in these 30 days',
    path: (period) => `/revenue?${period}`,
  },
};

/** The limits that figures are beyond. */
export function listExceeded(
  choice: Pick<NotificationChoice, Limit>,
  summary: Parameters<LimitRule['valueOf']>[0],
): Limit[] {
  return limits.filter((name) => {
    const { valueOf, isLeast } = limitRules[name];
    const [value, limit] = [valueOf(summary), choice[name]];
    return limit !== null && (isLeast ? value < limit : value > limit);
  });
}

/** The days of the figures that limits are about. */
const figureDays = 30;

interface AlertParts {
  readonly shop: Pick<Shop, 'currency'>;
  readonly choice: NotificationChoice;
  /** The figures at the end of the day. */
  readonly summary: Summary;
  /** The limits that were exceeded and told about already. */
  readonly known: readonly Limit[];
  /** Complete UTC days, oldest first. */
  readonly days: readonly DayOfCounts[];
}

/** What is to be told about the last day; undefined for nothing. */
export function composeAlert(parts: AlertParts): Letter | undefined {
  const { shop, choice, summary, known, days } = parts;
  const exceeded = listExceeded(choice, summary).filter((limit) => !known.includes(limit));
  const unusual = choice.unusual ? findUnusual(days) : [];
  // The figures are those of the days before the end of the last one.
  const [first = '', last = ''] = [days.at(-figureDays)?.day, days.at(-1)?.day];
  const money = (amount: number) => formatMoney({ ...englishReader, shop }, amount);
  const sentences = [
    ...exceeded.map((limit) => {
      const { valueOf, say } = limitRules[limit];
      return say(valueOf(summary), choice[limit] ?? 0, money);
    }),
    ...unusual.map((each) => explainUnusual(each, last)),
  ];
  const [only] = sentences;
  if (only === undefined) return undefined;
  return {
    subject: sentences.length === 1 ? only.replace(/\.$/, '') : `${sentences.length} alerts`,
    sentences,
    links: [
      ...exceeded.map((limit) => {
        const { label, path } = limitRules[limit];
        return { label, path: path(`from=${first}&to=${last}`) };
      }),
      ...unusual.map(({ field }) => {
        const { label, path } = countRules[field];
        return { label, path: `${path}from=${last}&to=${last}` };
      }),
    ],
  };
}

/** An alert about a day that could have been: as many cancellations as would be unusual. */
export function exampleAlert(
  shop: Pick<Shop, 'currency'>,
  parts: Pick<AlertParts, 'summary' | 'days'>,
) {
  const { days, summary } = parts;
  const [last] = days.slice(-1);
  const most = Math.max(...days.map(({ cancelled }) => cancelled));
  const unusual = last && { ...last, cancelled: 2 * most + 2 * leastDifference };
  const example = [...days.slice(0, -1), ...(unusual ? [unusual] : [])];
  const choice = { ...noChoice, unusual: true };
  return composeAlert({ shop, choice, summary, known: [], days: example });
}

function explainUnusual({ field, count, usual }: UnusualCount, day: string): string {
  const { noun, badWhen } = countRules[field];
  const weekday = dateFormat('en', { weekday: 'long' }).format(Date.parse(day));
  const than = badWhen > 0 ? 'more' : 'fewer';
  const mean = usual < 1 ? 'less than 1' : written(Math.round(usual));
  return `${countOf(englishReader, count, noun)} on ${weekday}, ${date(day)} (UTC): ${than} than usual for a ${weekday}, and than on any of the ${usualDays} days before (${mean} a day on average).`;
}

/** The figures of a digest, in its order. */
const fields: readonly Figure['field'][] = [
  'mrr',
  'activeSubscribers',
  'newSubscribers30d',
  'cancelled30d',
  'churnRate30d',
  'revenue30d',
  'failedPayments30d',
  'recoveryRate',
  'saveRate',
];

/** What happened in a week: the answer of the overview, and figures. */
export function composeDigest(shop: Pick<Shop, 'currency'>, judged: Judged): Letter {
  const { view, earlier } = judged;
  const { from, until } = view.period;
  const [first, last] = [isoDay(from), isoDay(until - 1)].map(date);
  const words = wordsOf({ ...englishReader, shop });
  const answer = verdictOf(judged, words);
  const rows = fields.map((field) => {
    const figure = catalogue[field];
    return {
      name: figure.name,
      value: showValue(words, figure, judged),
      before: showValue(words, figure, earlier),
    };
  });
  return {
    subject: `week from ${first}: ${answer[0]?.text.replace(/\.$/, '')}`,
    sentences: [
      ...answer.map(textOf),
      `The week from ${first} to ${last} (UTC), beside the one before.`,
    ],
    columns: ['This week', 'The week before'],
    rows,
    links: [
      { name: 'the week', rows: '' },
      ...answer.flatMap(({ rows: found }) => found ?? []),
    ].map(({ name, rows: path, filter }: Rows) => ({
      label: `See ${name}`,
      path: `${path}?${viewQuery(view, filter)}`,
    })),
  };
}

type Counted = 'cancelled' | 'failedPayments' | 'newSubscribers';
/** The counts of a day that are compared. */
export type DayOfCounts = Pick<DayOfHistory, Counted | 'day'>;

/** A day's count that is far from what is usual, in the direction that is bad. */
export interface UnusualCount {
  readonly field: Counted;
  readonly count: number;
  /** The mean of the days before. */
  readonly usual: number;
}

/** The days that say what is usual: at least one of each day of a month. */
export const usualDays = 35;
/** Fewer are never unusual, however few are usual. */
const leastDifference = 5;

/** What is told of each count. */
const countRules: Readonly<
  Record<Counted, { badWhen: 1 | -1; noun: string; label: string; path: string }>
> = {
  cancelled: {
    badWhen: 1,
    noun: 'cancellation',
    label: 'See who cancelled',
    path: '/churn/left?cause=cancelled&',
  },
  failedPayments: {
    badWhen: 1,
    noun: 'failed payment',
    label: 'See the failed payments',
    path: '/recovery?',
  },
  newSubscribers: {
    badWhen: -1,
    noun: 'new subscriber',
    label: 'See the figures of that day',
    path: '?',
  },
};

/**
 * The counts of the last day that are worse than on each of the 35 days before, by at least 5 and by more than three
 * standard deviations from their mean. Counts of independent events vary by the square root of their mean.
 * @param days consecutive, oldest first; with fewer than 36, nothing is unusual
 */
export function findUnusual(days: readonly DayOfCounts[]): UnusualCount[] {
  const [last, before] = [days.at(-1), days.slice(-usualDays - 1, -1)];
  if (last === undefined || before.length < usualDays) return [];
  return (Object.keys(countRules) as Counted[]).flatMap((field) => {
    const sign = countRules[field].badWhen;
    const counts = before.map((day) => day[field]);
    const usual = counts.reduce((sum, count) => sum + count, 0) / usualDays;
    const worse = sign * (last[field] - usual);
    const isWorst = counts.every((count) => sign * last[field] > sign * count);
    return isWorst && worse >= leastDifference && worse > 3 * Math.sqrt(usual)
      ? [{ field, count: last[field], usual }]
      : [];
  });
}
