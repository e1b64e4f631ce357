import { type Figure, figures as catalogue } from '../../metrics/figures.ts';
import type { Shop } from '../../store/shops.ts';
import type { Figures } from '../dashboard/dashboard.ts';
import { englishReader, formatCount, formatMoney, formatShare } from '../ui/locale.ts';
import type { Letter } from './message.ts';

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

interface DigestParts {
  readonly shop: Pick<Shop, 'currency'>;
  /** The first and the last UTC day, such as 2026-11-16. */
  readonly days: readonly [first: string, last: string];
  readonly figures: Figures;
  /** Of the week before. */
  readonly before: Figures;
}

/** What happened in a week. */
export function composeDigest({ shop, days, figures, before }: DigestParts): Letter {
  const rows = fields.map((field) => {
    const figure = catalogue[field];
    return {
      name: figure.name,
      value: show(shop, figure, figures),
      before: show(shop, figure, before),
    };
  });
  const [first, last] = days;
  const [mrr, active] = rows;
  return {
    subject: `week from ${first}`,
    sentences: [
      `From ${first} to ${last} (UTC): ${mrr?.value} monthly recurring revenue and ${active?.value} active subscribers at the end.`,
    ],
    columns: ['This week', 'The week before'],
    rows,
    links: [{ label: 'See the week', path: `?from=${first}&to=${last}` }],
  };
}

function show(
  shop: Pick<Shop, 'currency'>,
  { field, format }: Figure,
  { summary, undefinedFigures }: Figures,
): string {
  if (undefinedFigures.has(field)) return '–';
  const value = summary[field];
  if (format === 'count') return formatCount(englishReader, value);
  return format === 'money'
    ? formatMoney(englishReader, shop, value)
    : formatShare(englishReader, value);
}
