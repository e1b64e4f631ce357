import { type Vendor, stripe } from './vendor.ts';

/** Exports and import templates. */
export const fileVendors: Readonly<Record<string, Vendor>> = {
  Baremetrics: {
    imports: [['baremetrics-import', 'baremetrics-import.csv']],
    world: {
      plans: ['Basic: subscription 1 month', 'Team: subscription 1 year'],
      subscriptions: [
        'Team active 480.00 created 2026-01-15 00:00 = 2 Team 240.00',
        'Basic active 50.00 created 2026-03-31 00:00 = 1 Basic 50.00',
        'Basic cancelled 50.00 created 2026-06-01 00:00 = 1 Basic 50.00 cancelled 2026-11-04 00:00',
        // Its cancellation lies in the future.
        'Basic active 50.00 created 2026-11-02 00:00 = 1 Basic 50.00',
      ],
    },
    figures: {
      activeSubscribers: 3,
      mrr: 140, // 480 / 12 + 50 + 50
      newSubscribers30d: 1,
      cancelled30d: 1,
      churnRate30d: 0.25, // 1 of 4
      avgSubscriptionValue: 193.33, // 580 / 3
    },
  },
  ChartMogul: {
    imports: [
      ['chartmogul-plans', 'chartmogul-plans.csv'],
      ['chartmogul-subscriptions', 'chartmogul-subscriptions.csv'],
    ],
    world: {
      plans: ['Gold Monthly: subscription 1 month', 'Silver Yearly: subscription 1 year'],
      subscriptions: [
        'Gold Monthly active 98.00 created 2026-02-01 00:00 = 2 plan_gold 49.00',
        // 100.00 for three has no exact price each.
        'Gold Monthly cancelled 100.00 created 2026-05-01 00:00 = 1 plan_gold 100.00 cancelled 2026-11-10 00:00',
        'Silver Yearly active 490.00 created 2026-10-25 00:00 = 1 plan_silver 490.00',
      ],
    },
    figures: {
      activeSubscribers: 2,
      mrr: 138.83, // 98 + 490 / 12
      newSubscribers30d: 1,
      cancelled30d: 1,
      churnRate30d: 0.3333, // 1 of 3
      avgSubscriptionValue: 294,
    },
  },
  'Recharge, with columns named external_': {
    imports: [['recharge-subscriptions', 'recharge-external.csv']],
    world: {
      plans: ['1 month: subscription 1 month', '3 month: prepaid 3 month'],
      subscriptions: [
        '1 month active 30.60 created 2026-03-01 10:00 next 2026-11-24 00:00 = 2 House Blend/1 lb 15.30',
        '3 month cancelled 24.00 created 2026-03-01 10:00 = 1 Decaf 24.00 cancelled 2026-11-15 08:30',
      ],
    },
    figures: {
      activeSubscribers: 1,
      mrr: 30.6,
      cancelled30d: 1,
      churnRate30d: 0.5,
      avgSubscriptionValue: 30.6,
      upcomingRenewals7d: 1,
      upcomingRenewalsValue7d: 30.6,
    },
  },
  "Recharge's charges": {
    imports: [
      ['recharge-subscriptions', 'recharge-external.csv'],
      ['recharge-charges', 'recharge-charges.json'],
    ],
    world: {
      plans: ['1 month: subscription 1 month', '3 month: prepaid 3 month'],
      subscriptions: [
        '1 month active 30.60 created 2026-03-01 10:00 next 2026-11-24 00:00 = 2 House Blend/1 lb 15.30',
        '3 month cancelled 24.00 created 2026-03-01 10:00 = 1 Decaf 24.00 cancelled 2026-11-15 08:30',
      ],
      payments: [
        '2026-10-24 10:00 succeeded 35.50 cycle 8001 of 2026-03-01',
        '2026-11-10 16:10 failed 24.00 cycle 8002 of 2026-03-01 because of CARD_DECLINED',
      ],
      refunds: ['2026-11-12 09:00 10.00 of 2026-10-24'],
    },
    figures: {
      activeSubscribers: 1,
      mrr: 30.6,
      revenue30d: 25.5, // 35.50 - 10
      cancelled30d: 1,
      churnRate30d: 0.5,
      failedPayments30d: 1,
      avgSubscriptionValue: 30.6,
      upcomingRenewals7d: 1,
      upcomingRenewalsValue7d: 30.6,
    },
    // Not yet charged, and for something that is no subscription.
    skipped: 2,
  },
  'WooCommerce Subscriptions': {
    imports: [['woocommerce-subscriptions', 'woocommerce-subscriptions.csv']],
    world: {
      plans: ['1 month: subscription 1 month', '2 week: subscription 2 week'],
      subscriptions: [
        '1 month active 39.60 created 2026-02-01 08:00 next 2026-11-25 08:00 = 2 Espresso Roast 15.30 + 1 Filter 9.00',
        '2 week paused 10.00 created 2026-03-10 00:00 = 1 Samples 10.00',
        '1 month cancelled 24.00 created 2026-04-01 09:30 = 1 Filter 24.00 cancelled 2026-11-01 09:30',
        '1 month active 15.00 created 2026-11-05 12:00 = 1 Decaf 15.00',
      ],
    },
    figures: {
      activeSubscribers: 2,
      pausedSubscribers: 1,
      mrr: 54.6,
      newSubscribers30d: 1,
      cancelled30d: 1,
      churnRate30d: 0.3333, // 1 of 3, as the pause has no date
      avgSubscriptionValue: 27.3,
      upcomingRenewals7d: 1,
      upcomingRenewalsValue7d: 39.6,
    },
    skipped: 1,
  },
  Chargebee: {
    imports: [
      ['chargebee-objects', 'chargebee-subscriptions.json'],
      ['chargebee-objects', 'chargebee-transactions.json'],
    ],
    world: {
      plans: ['gold-USD-monthly: subscription 1 month', 'silver-USD-yearly: subscription 1 year'],
      subscriptions: [
        'silver-USD-yearly cancelled 120.00 created 2026-01-10 00:00 = 1 silver-USD-yearly 120.00 cancelled 2026-11-08 00:00',
        'gold-USD-monthly paused 19.50 created 2026-02-01 00:00 = 1 gold-USD-monthly 19.50 paused 2026-10-01 00:00',
        'gold-USD-monthly active 49.00 created 2026-03-05 00:00 next 2026-11-24 00:00 paid 2026-11-24 00:00 = 2 gold-USD-monthly 19.50 + 1 support-USD-monthly 10.00',
        'gold-USD-monthly active 19.50 created 2026-11-12 00:00 next 2026-12-12 00:00 = 1 gold-USD-monthly 19.50',
      ],
      payments: [
        '2026-11-04 00:00 failed 49.00 cycle INV-7 of 2026-03-05 because of card_declined',
        '2026-11-05 00:00 succeeded 49.00 cycle INV-7 of 2026-03-05',
      ],
      refunds: ['2026-11-10 00:00 10.00 of 2026-11-05'],
    },
    figures: {
      activeSubscribers: 2,
      pausedSubscribers: 1,
      mrr: 49, // the other one is in trial
      revenue30d: 39,
      newSubscribers30d: 1,
      cancelled30d: 1,
      churnRate30d: 0.25, // 1 of 4
      recoveryRate: 1,
      failedPayments30d: 1,
      avgSubscriptionValue: 34.25,
      upcomingRenewals7d: 1,
      upcomingRenewalsValue7d: 49,
    },
    skipped: 2, // a future subscription and an authorization
  },
  Recurly: {
    imports: [
      ['recurly-objects', 'recurly-plans.json'],
      ['recurly-objects', 'recurly-subscriptions.json'],
      ['recurly-objects', 'recurly-transactions.json'],
    ],
    world: {
      plans: [
        'Monthly Box: subscription 1 month',
        'Quarterly Crate: subscription 3 month inactive',
      ],
      subscriptions: [
        'Monthly Box active 60.00 created 2026-04-23 10:00 next 2026-11-23 10:00 = 2 Monthly Box 30.00',
        'Monthly Box cancelled 30.00 created 2026-05-01 00:00 = 1 Monthly Box 30.00 cancelled 2026-11-01 00:00',
        'Monthly Box failed 30.00 created 2026-06-15 00:00 = 1 Monthly Box 30.00 failed 2026-11-15 00:00',
        // Cancelled at Recurly, but live until February.
        'Quarterly Crate active 75.50 created 2026-11-01 00:00 = 1 Quarterly Crate 75.50',
      ],
      payments: [
        '2026-10-23 10:00 succeeded 60.00 cycle nri1001 of 2026-04-23',
        '2026-10-25 00:00 failed 30.00 cycle nri1002 of 2026-06-15 because of insufficient_funds',
      ],
      refunds: ['2026-11-02 09:00 15.50 of 2026-10-23'],
    },
    figures: {
      activeSubscribers: 2,
      mrr: 85.17, // 60 + 75.50 / 3
      revenue30d: 44.5,
      newSubscribers30d: 1,
      cancelled30d: 1,
      churnRate30d: 0.5, // the cancelled and the failed one, of 4
      failedPayments30d: 1,
      avgSubscriptionValue: 67.75,
      upcomingRenewals7d: 1,
      upcomingRenewalsValue7d: 60,
    },
    skipped: 2, // a future subscription and a verification
  },
  'Stripe, objects of both versions': {
    imports: [
      ['stripe-objects', 'stripe-subscriptions.json'],
      ['stripe-objects', 'stripe-invoices.json'],
      ['stripe-objects', 'stripe-refunds.json'],
    ],
    world: {
      ...stripe.world,
      payments: [
        '2026-10-26 02:47 succeeded 103.00 cycle in_1A of 2026-02-03',
        '2026-11-01 01:00 succeeded 49.00 cycle in_1C of 2026-03-01',
        '2026-11-15 11:00 failed 490.00 cycle in_1B of 2026-01-05 because of insufficient_funds',
      ],
      refunds: ['2026-11-11 00:00 9.00 of 2026-11-01'],
    },
    figures: {
      ...stripe.figures,
      revenue30d: 143, // 103 + 49 - 9
      dunningActive: 1,
      failedPayments30d: 1,
    },
    // A subscription never paid for; invoices of nothing, of no subscription, and a draft; a failed refund.
    skipped: 5,
  },
};
