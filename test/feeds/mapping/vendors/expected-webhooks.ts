import { type Vendor, stripe } from './vendor.ts';

/** Messages that vendors send, as one file. */
export const webhookVendors: Readonly<Record<string, Vendor>> = {
  "Stripe's events": {
    imports: [['stripe-webhooks', 'stripe-webhooks.ndjson']],
    world: {
      plans: ['Gold: subscription 1 month'],
      subscriptions: [
        'Gold active 49.00 created 2026-02-03 01:47 next 2026-11-26 01:47 paid 2026-11-26 01:47 = 1 Gold 49.00',
        'Gold cancelled 49.00 created 2026-10-30 10:00 paid 2026-11-30 10:00 = 1 Gold 49.00 cancelled 2026-11-18 10:00',
      ],
      payments: [
        '2026-11-01 02:00 failed 49.00 cycle in_WA of 2026-02-03',
        '2026-11-04 02:00 failed 49.00 cycle in_WA of 2026-02-03',
        '2026-11-06 02:00 succeeded 49.00 cycle in_WA of 2026-02-03',
        '2026-11-10 11:00 failed 49.00 cycle in_WB of 2026-10-30',
      ],
      refunds: ['2026-11-07 00:00 10.00 of 2026-11-06'],
    },
    figures: {
      activeSubscribers: 1,
      mrr: 49,
      revenue30d: 39,
      newSubscribers30d: 1,
      cancelled30d: 1,
      churnRate30d: 0.5,
      recoveryRate: 0.5, // one recovered, one lost
      failedPayments30d: 2, // of two invoices
      avgSubscriptionValue: 49,
      upcomingRenewals7d: 1,
      upcomingRenewalsValue7d: 49,
    },
    skipped: 1,
  },
  "Paddle's events": {
    imports: [['paddle-webhooks', 'paddle-webhooks.ndjson']],
    world: {
      plans: ['Monthly: subscription 1 month'],
      subscriptions: [
        'Monthly active 36.00 created 2026-02-01 00:00 next 2026-12-01 00:00 paid 2026-12-01 00:00 = 2 Tea Club/Monthly 18.00',
        'Monthly cancelled 18.00 created 2026-11-04 00:00 = 1 Tea Club/Monthly 18.00 cancelled 2026-11-12 00:00',
      ],
      payments: [
        '2026-11-01 00:00 failed 36.00 cycle txn_01hpA of 2026-02-01 because of declined',
        '2026-11-03 00:00 succeeded 36.00 cycle txn_01hpA of 2026-02-01',
      ],
      refunds: ['2026-11-13 00:00 6.00 of 2026-11-03'],
    },
    figures: {
      activeSubscribers: 1,
      mrr: 36,
      revenue30d: 30,
      newSubscribers30d: 1,
      cancelled30d: 1,
      churnRate30d: 0.5,
      recoveryRate: 1,
      failedPayments30d: 1,
      avgSubscriptionValue: 36,
    },
    skipped: 1,
  },
  "Churnkey's sessions": {
    imports: [
      ['stripe-objects', 'stripe-subscriptions.json'],
      ['churnkey-webhooks', 'churnkey-webhooks.ndjson'],
    ],
    world: {
      ...stripe.world,
      // The messages have no time, so it is the importer's.
      sessions: [
        '2026-11-20 12:00 not_using pause saved linked',
        '2026-11-20 12:00 other no offer cancelled linked',
        '2026-11-20 12:00 too_expensive no offer cancelled linked',
        '2026-11-20 12:00 too_expensive offer_discount saved linked',
        '2026-11-20 12:00 unknown no offer abandoned linked',
      ],
    },
    figures: { ...stripe.figures, saveRate: 0.4, cancelSessions30d: 5 },
    skipped: 2, // a subscription never paid for, and a test
  },
  "Chargebee Retention's events": {
    imports: [['chargebee-retention-webhooks', 'chargebee-retention-webhooks.ndjson']],
    world: {
      sessions: [
        '2026-11-06 00:53 too_expensive no offer saved',
        '2026-11-07 00:00 unknown no offer abandoned',
        // An accepted offer, then the cancellation after all.
        '2026-11-08 10:05 product_quality no offer cancelled',
        '2026-11-09 00:00 other no offer cancelled',
      ],
    },
    figures: { saveRate: 0.25, cancelSessions30d: 4 },
    skipped: 1,
  },
  "ProsperStack's sessions": {
    imports: [
      ['stripe-objects', 'stripe-subscriptions.json'],
      ['prosperstack-webhooks', 'prosperstack-webhooks.ndjson'],
    ],
    world: {
      ...stripe.world,
      sessions: [
        '2026-11-02 10:00 too_expensive offer_discount saved linked',
        '2026-11-03 10:00 other pause cancelled linked',
        '2026-11-04 10:00 unknown no offer abandoned linked',
        '2026-11-05 10:00 unknown no offer in progress linked',
      ],
    },
    figures: { ...stripe.figures, saveRate: 0.3333, cancelSessions30d: 4 },
    skipped: 1, // a subscription never paid for
  },
};
