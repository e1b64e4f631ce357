import type { Summary } from '../../metrics/figures.ts';
import type { Limit, NotificationChoice } from '../../store/owners/notifications.ts';
import { limits } from '../../store/owners/notifications.ts';
import type { Shop } from '../../store/shops.ts';
import { englishReader, formatCount, formatMoney, formatShare } from '../ui/locale.ts';
import type { Letter, Link } from './message.ts';
import { type DayOfCounts, type UnusualCount, findUnusual, usualDays } from './unusual.ts';

/** The limits that figures are beyond. */
export function listExceeded(
  choice: Pick<NotificationChoice, Limit>,
  summary: Pick<Summary, 'churnRate30d' | 'dunningActive' | 'mrr'>,
): Limit[] {
  const isBeyond: Readonly<Record<Limit, (limit: number) => boolean>> = {
    maxChurnRate: (limit) => summary.churnRate30d > limit,
    maxOutstanding: (limit) => summary.dunningActive > limit,
    minMrr: (limit) => summary.mrr < limit,
  };
  return limits.filter((name) => {
    const limit = choice[name];
    return limit !== null && isBeyond[name](limit);
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
  const sentences = [
    ...exceeded.map((limit) => explainLimit(limit, choice, summary, shop)),
    ...unusual.map((each) => explainUnusual(each, last)),
  ];
  const [only] = sentences;
  if (only === undefined) return undefined;
  return {
    subject: sentences.length === 1 ? only.replace(/\.$/, '') : `${sentences.length} alerts`,
    sentences,
    links: [
      ...exceeded.map((limit) => limitLink(limit, `from=${first}&to=${last}`)),
      ...unusual.map(({ field }) => unusualLink(field, `from=${last}&to=${last}`)),
    ],
  };
}

const count = (value: number) => formatCount(englishReader, value);
const share = (value: number) => formatShare(englishReader, value);

function explainLimit(
  limit: Limit,
  choice: NotificationChoice,
  summary: Summary,
  shop: Pick<Shop, 'currency'>,
): string {
  const bound = choice[limit] ?? 0;
  const money = (value: number) => formatMoney(englishReader, shop, value);
  const texts: Readonly<Record<Limit, string>> = {
    maxChurnRate: `Churn of the last 30 days is ${share(summary.churnRate30d)}, above your limit of ${share(bound)}.`,
    maxOutstanding: `Outstanding payments are ${count(summary.dunningActive)}, above your limit of ${count(bound)}.`,
    minMrr: `Monthly recurring revenue is ${money(summary.mrr)}, below your limit of ${money(bound)}.`,
  };
  return texts[limit];
}

/** @param period as addresses have it */
function limitLink(limit: Limit, period: string): Link {
  const links: Readonly<Record<Limit, Link>> = {
    maxChurnRate: { label: 'See the churn of these 30 days', path: `/churn?${period}` },
    maxOutstanding: { label: 'See the outstanding payments', path: '/recovery/open' },
    minMrr: { label: 'See what changed MRR in these 30 days', path: `/revenue?${period}` },
  };
  return links[limit];
}

function unusualLink(field: UnusualCount['field'], period: string): Link {
  const links: Readonly<Record<UnusualCount['field'], Link>> = {
    cancelled: { label: 'See who cancelled', path: `/churn/left?cause=cancelled&${period}` },
    failedPayments: { label: 'See the failed payments', path: `/recovery?${period}` },
    newSubscribers: { label: 'See the figures of that day', path: `?${period}` },
  };
  return links[field];
}

const nouns: Readonly<Record<UnusualCount['field'], readonly [one: string, other: string]>> = {
  cancelled: ['cancellation', 'cancellations'],
  failedPayments: ['failed payment', 'failed payments'],
  newSubscribers: ['new subscriber', 'new subscribers'],
};

function explainUnusual({ field, count: number, usual }: UnusualCount, day: string): string {
  const noun = nouns[field][number === 1 ? 0 : 1];
  const mean = count(Math.round(usual));
  return `${count(number)} ${noun} on ${day} (UTC); ${mean} a day is usual, the mean of the ${usualDays} days before.`;
}
