import type { Store } from '../../src/store/open.ts';
import { line, plan, session, subscription } from '../rest/records.ts';
import { type TestShop, createShop, importAll } from '../support/world.ts';

/** The fifteen figures, as the API returns them and as formatted in two locales. */
export interface Expected {
  readonly api: Readonly<Record<string, number>>;
  readonly texts: Readonly<Record<'en-US' | 'de-DE', readonly string[]>>;
}

const lines = (price: string) => [{ ...line, quantity: 1, currentPrice: price }];
const yearly = { intervalUnit: 'year', intervalCount: 1 };

/** As of 20 November 2026, 12:00 UTC: halves of the smallest unit, large amounts and rates without a basis. */
function recordsOf(half: string, large: string) {
  return [
    plan(),
    subscription(1, {
      customerId: 1,
      lines: lines(large),
      createdAt: '2026-08-01T00:00:00Z',
      nextBillingDate: '2026-11-22T00:00:00Z',
    }),
    subscription(2, { customerId: 2, lines: lines(half), ...yearly }),
    session(1),
    {
      type: 'payment',
      id: 1,
      subscriptionId: 1,
      cycle: '1',
      status: 'succeeded',
      amount: large,
      processedAt: '2026-11-19T00:00:00Z',
    },
    { type: 'refund', id: 1, paymentId: 1, amount: half, refundedAt: '2026-11-19T01:00:00Z' },
  ];
}

/** A yearly price whose month is half of the smallest unit, and a large one. */
const prices = {
  JPY: ['6', '1000000000'],
  KWD: ['0.006', '1000000000.001'],
  EUR: ['0.06', '1000000000.01'],
} as const;
export type AwkwardCurrency = keyof typeof prices;
export const awkwardCurrencies = Object.keys(prices) as AwkwardCurrency[];

export async function createAwkwardShop(
  store: Store,
  currency: AwkwardCurrency,
): Promise<{ shop: TestShop; expected: Expected }> {
  const shop = await createShop(store, { currency });
  const [half, large] = prices[currency];
  await importAll(store, shop, recordsOf(half, large));
  return { shop, expected: expectations[currency] };
}

const counts = {
  activeSubscribers: 2,
  pausedSubscribers: 0,
  newSubscribers30d: 1,
  failedPayments30d: 0,
  dunningActive: 0,
  recoveryRate: 0,
  cancelled30d: 0,
  churnRate30d: 0,
  cancelSessions30d: 1,
  saveRate: 0,
  upcomingRenewals7d: 1,
};

/** In page order; tests replace the no-break spaces that Intl puts before units. */
const textsOf = (percent: string, [mrr, revenue, average, value]: readonly string[]) =>
  [
    [mrr, '2', percent],
    ['1', '0', '0', '1', '–', average],
    [revenue, '0', '0', '–', '1', value],
  ].flat() as readonly string[];

const expectations: Readonly<Record<AwkwardCurrency, Expected>> = {
  EUR: {
    api: {
      ...counts,
      mrr: 1_000_000_000.02,
      revenue30d: 999_999_999.95,
      avgSubscriptionValue: 500_000_000.04,
      upcomingRenewalsValue7d: 1_000_000_000.01,
    },
    texts: {
      'en-US': textsOf('0 of 2', [
        '€1,000,000,000.02',
        '€999,999,999.95',
        '€500,000,000.04',
        '€1,000,000,000.01',
      ]),
      'de-DE': textsOf('0 of 2', [
        '1.000.000.000,02 €',
        '999.999.999,95 €',
        '500.000.000,04 €',
        '1.000.000.000,01 €',
      ]),
    },
  },
  // 6 a year is 0.5 a month, which is rounded away from zero.
  JPY: {
    api: {
      ...counts,
      mrr: 1_000_000_001,
      revenue30d: 999_999_994,
      avgSubscriptionValue: 500_000_003,
      upcomingRenewalsValue7d: 1_000_000_000,
    },
    texts: {
      'en-US': textsOf('0 of 2', [
        '¥1,000,000,001',
        '¥999,999,994',
        '¥500,000,003',
        '¥1,000,000,000',
      ]),
      'de-DE': textsOf('0 of 2', [
        '1.000.000.001 ¥',
        '999.999.994 ¥',
        '500.000.003 ¥',
        '1.000.000.000 ¥',
      ]),
    },
  },
  // 0.006 a year is 0.0005 a month; the mean of 1,000,000,000.001 and 0.006 is …0.0035.
  KWD: {
    api: {
      ...counts,
      mrr: 1_000_000_000.002,
      revenue30d: 999_999_999.995,
      avgSubscriptionValue: 500_000_000.004,
      upcomingRenewalsValue7d: 1_000_000_000.001,
    },
    texts: {
      'en-US': textsOf('0 of 2', [
        'KWD 1,000,000,000.002',
        'KWD 999,999,999.995',
        'KWD 500,000,000.004',
        'KWD 1,000,000,000.001',
      ]),
      'de-DE': textsOf('0 of 2', [
        '1.000.000.000,002 KWD',
        '999.999.999,995 KWD',
        '500.000.000,004 KWD',
        '1.000.000.000,001 KWD',
      ]),
    },
  },
};
