import { line, plan, session, subscription } from '../rest/records.ts';

const lines = (price: string) => [{ ...line, quantity: 1, currentPrice: price }];
const yearly = { intervalUnit: 'year', intervalCount: 1 };

/** As of 20 November 2026, 12:00 UTC: what changed the MRR, and renewals to come. */
export const revenueRecords = [
  plan(),
  subscription(1, {
    customerId: 1,
    lines: lines('10.00'),
    createdAt: '2026-08-01T00:00:00Z',
    nextBillingDate: '2026-11-22T00:00:00Z',
  }),
  // Half a cent a month each.
  subscription(2, {
    customerId: 2,
    lines: lines('0.06'),
    ...yearly,
    nextBillingDate: '2026-12-30T00:00:00Z',
  }),
  subscription(3, {
    customerId: 1,
    lines: lines('0.06'),
    ...yearly,
    createdAt: '2026-11-03T00:00:00Z',
  }),
  subscription(4, {
    customerId: 3,
    lines: lines('20.00'),
    createdAt: '2026-09-01T00:00:00Z',
    status: 'cancelled',
    updatedAt: '2026-11-10T00:00:00Z',
    nextBillingDate: '2026-12-01T00:00:00Z',
  }),
  subscription(5, {
    customerId: 4,
    lines: lines('5.00'),
    createdAt: '2026-09-01T00:00:00Z',
    status: 'paused',
    updatedAt: '2026-11-11T00:00:00Z',
    nextBillingDate: '2026-12-01T00:00:00Z',
  }),
  {
    type: 'payment',
    id: 1,
    subscriptionId: 1,
    cycle: '1',
    status: 'succeeded',
    amount: '10.00',
    processedAt: '2026-11-01T00:00:00Z',
  },
  { type: 'refund', id: 1, paymentId: 1, amount: '2.50', refundedAt: '2026-11-05T00:00:00Z' },
];

/** The outcomes of sessions, with what was offered for which reason and of which subscription. */
const sessions = [
  ...Array.from({ length: 12 }, (_, index) => ({
    detectedReason: 'not_using',
    offerType: 'pause',
    outcome: index < 9 ? 'saved' : 'cancelled',
    subscriptionId: [1, 4, 5][index],
  })),
  ...Array.from({ length: 10 }, (_, index) => ({
    detectedReason: 'too_expensive',
    offerType: 'offer_discount',
    outcome: index < 4 ? 'saved' : 'abandoned',
    subscriptionId: index === 0 ? 1 : undefined,
  })),
  { detectedReason: 'too_expensive', outcome: 'cancelled' },
  { detectedReason: 'too_expensive', outcome: 'cancelled' },
  { detectedReason: 'other', offerType: 'swap' },
].map((over, index) =>
  session(7001 + index, { ...over, createdAt: `2026-11-${10 + (index % 9)}T00:00:00Z` }),
);

/** The same, with sessions of the cancel flow. */
export const flowRecords = [
  ...revenueRecords,
  ...sessions,
  session(7901, { outcome: 'saved', subscriptionId: 1, createdAt: '2026-10-01T00:00:00Z' }),
  session(7902, { outcome: 'cancelled', createdAt: '2026-10-02T00:00:00Z' }),
];
