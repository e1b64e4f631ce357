/** A vendor's samples, and what they must become; computed by hand. */
export interface Vendor {
  readonly imports: readonly (readonly [mapping: string, file: string])[];
  readonly world: {
    readonly plans?: readonly string[];
    readonly subscriptions?: readonly string[];
    readonly payments?: readonly string[];
    readonly refunds?: readonly string[];
    readonly sessions?: readonly string[];
  };
  /** Those that are not 0. */
  readonly figures: Readonly<Record<string, number>>;
  readonly refused?: readonly string[];
  /** Rows that no rule of the mapping applies to. */
  readonly skipped?: number;
}

/** The subscriptions of Stripe's sample; cancel-flow sessions refer to them. */
export const stripe = {
  world: {
    plans: [
      'Gold: subscription 1 month',
      'Quarter: subscription 3 month',
      'price_year: subscription 1 year',
    ],
    subscriptions: [
      'price_year active 490.00 created 2026-01-05 10:00 = 1 price_year 490.00',
      'Gold active 103.00 created 2026-02-03 01:47 next 2026-11-26 01:47 paid 2026-11-26 01:47 = 2 Gold 49.00 + 1 Add-on 5.00',
      'Gold cancelled 49.00 created 2026-03-01 00:00 = 1 Gold 49.00 cancelled 2026-11-14 00:00',
      'Quarter paused 60.00 created 2026-11-01 00:00 next 2027-02-01 00:00 paid 2027-02-01 00:00 = 1 Quarterly Box 60.00',
    ],
  },
  figures: {
    activeSubscribers: 2,
    pausedSubscribers: 1,
    mrr: 143.83, // 490 / 12 + 103
    newSubscribers30d: 1,
    cancelled30d: 1,
    churnRate30d: 0.3333, // 1 of 3, as the pause has no date
    avgSubscriptionValue: 296.5,
    upcomingRenewals7d: 1,
    upcomingRenewalsValue7d: 103,
  },
} as const;
