/** The rows expected from the samples, worked out by hand, with amounts as they are stored. */

const month = 'month | 1';

export const subscriptions = [
  `1001 | 500001 | 301 | active | 2026-03-01T09:00:00Z | 30.6 | ${month} | 2026-11-24T09:00:00Z | 2026-11-24T09:00:00Z | 2026-03-01T09:00:00Z | 2026-11-15T09:00:03Z`,
  '1002 | 500002 | 302 | paused | 2026-11-01T10:00:00Z | 24 | week | 2 | 2026-11-08T10:00:00Z | 2026-11-08T10:00:00Z | 2026-06-10T10:00:00Z | 2026-11-01T10:00:00Z',
  `1003 | 500003 | 301 | cancelled | 2026-11-17T11:00:00Z | 15.3 | ${month} | null | 2026-12-05T11:00:00Z | 2026-05-05T11:00:00Z | 2026-11-17T11:00:00Z`,
  `1004 | 500004 | 303 | expired | 2026-11-20T00:00:00Z | 29 | ${month} | null | 2026-09-20T12:00:00Z | 2026-08-20T12:00:00Z | 2026-11-20T00:00:00Z`,
  `1005 | 500005 | 301 | failed | 2026-10-30T08:00:00Z | 15.3 | ${month} | 2026-10-01T08:00:00Z | 2026-05-01T08:00:00Z | 2026-04-01T08:00:00Z | 2026-10-30T08:00:00Z`,
  '1006 | 500001 | 304 | active | 2026-01-01T00:00:00Z | 99 | year | 1 | 2027-01-01T00:00:00Z | 2027-01-01T00:00:00Z | 2026-01-01T00:00:00Z | 2026-01-01T00:00:05Z',
  '1007 | 500007 | 305 | active | 2026-10-25T13:00:00Z | 60.6 | month | 3 | 2027-01-25T13:00:00Z | 2027-01-25T13:00:00Z | 2026-10-25T13:00:00Z | 2026-10-25T13:00:09Z',
  `1008 | 500008 | 301 | active | 2026-02-14T14:00:00Z | 72 | ${month} | 2026-11-14T14:00:00Z | 2026-03-14T14:00:00Z | 2026-02-14T14:00:00Z | 2026-11-18T14:00:00Z`,
  // Its customer, product and selling plan were deleted in Shopify, so their ids are derived.
  '1010 | 8583393439723134 | 7842138469200290 | active | 2026-09-09T16:00:00Z | 19.99 | day | 30 | 2026-12-09T16:00:00Z | 2026-12-09T16:00:00Z | 2026-09-09T16:00:00Z | 2026-11-09T16:00:00Z',
  '1011 | 500011 | 306 | active | 2026-11-19T17:00:00Z | 9 | week | 1 | null | 2026-11-26T17:00:00Z | 2026-11-19T17:00:00Z | 2026-11-19T17:00:00Z',
];

/** Line ids are 2^52 + the first 52 bits of the SHA-256 of their UUIDs. */
export const lines = [
  '1001 | 0 | 4818443535128920 | 8001 | House Blend | 9001 | 1 lb / Whole bean | 2 | 15.3',
  '1002 | 0 | 8578032591358080 | 8002 | Oat Bars | 9002 | Box of 12 | 1 | 24',
  '1003 | 0 | 7198649919465561 | 8001 | House Blend | 9003 | 1 lb / Ground | 1 | 15.3',
  '1004 | 0 | 4513217681895582 | 8004 | Gift Sampler | 9004 |  | 1 | 29',
  '1005 | 0 | 5401074174478313 | 8001 | House Blend | 9001 | 1 lb / Whole bean | 1 | 15.3',
  '1006 | 0 | 7462745876979351 | 8006 | Insider Membership | 9006 |  | 1 | 99',
  '1007 | 0 | 6394478615337708 | 8001 | House Blend | 9001 | 1 lb / Whole bean | 1 | 48.6',
  '1007 | 1 | 8982936973299366 | 8008 | Mug | 9008 | Blue | 1 | 12',
  '1008 | 0 | 8793904915309872 | 8002 | Oat Bars | 9002 | Box of 12 | 3 | 24',
  '1010 | 0 | 8400127394080792 | 6456237570456151 | Discontinued Tea | 7613676922497449 |  | 1 | 19.99',
  '1011 | 0 | 6115731570664759 | 8002 | Oat Bars | 9002 | Box of 12 | 1 | 9',
];

export const statusEvents = [
  '1002 | 0 | 2026-11-01T10:00:00Z | active | paused',
  '1003 | 0 | 2026-11-17T11:00:00Z | active | cancelled',
  '1004 | 0 | 2026-11-20T00:00:00Z | active | expired',
  '1005 | 0 | 2026-10-30T08:00:00Z | active | failed',
];

export const payments = [
  '2001 | 1001 | 2026-10-24 | succeeded | null | 30.6 | 2026-10-24T09:00:00Z | 2026-11-15T09:00:03Z',
  '2002 | 1003 | 2026-11-05 | succeeded | null | 15.3 | 2026-11-05T11:00:00Z | 2026-11-17T11:00:00Z',
  '2003 | 1005 | 2026-10-01 | failed | payment | 15.3 | 2026-10-01T08:00:00Z | 2026-10-30T08:00:00Z',
  '2004 | 1005 | 2026-10-01 | failed | payment | 15.3 | 2026-10-15T08:00:00Z | 2026-10-30T08:00:00Z',
  '2005 | 1005 | 2026-10-01 | failed | payment | 15.3 | 2026-10-30T08:00:00Z | 2026-10-30T08:00:00Z',
  '2006 | 1008 | 2026-11-14 | failed | payment | 72 | 2026-11-14T14:00:00Z | 2026-11-18T14:00:00Z',
  '2007 | 1008 | 2026-11-14 | failed | payment | 72 | 2026-11-18T14:00:00Z | 2026-11-18T14:00:00Z',
  '2009 | 1002 | 2026-10-25 | failed | inventory | 24 | 2026-10-25T10:00:00Z | 2026-11-01T10:00:00Z',
  '2010 | 1010 | 2026-11-09 | succeeded | null | 19.99 | 2026-11-09T16:00:00Z | 2026-11-09T16:00:00Z',
];

export const plans = [
  '301 | Monthly, 15% off | Subscribe & save | subscription | month | 1 | true | 14 | percentage | 15 | 15% off',
  '302 | Every 2 weeks | Subscribe & save | subscription | week | 2 | true | 14 | none | 0 | No discount',
  '303 | 3-month gift | Gifts & prepaid | subscription | month | 1 | true | 3 | none | 0 | No discount',
  '304 | Yearly membership | Insider Membership | membership | year | 1 | true | 1 | price | 99 | $99.00 each time',
  '305 | Prepaid 3 months | Gifts & prepaid | prepaid | month | 3 | true | 3 | percentage | 10 | 10% off',
  '306 | Weekly | Subscribe & save | subscription | week | 1 | true | 14 | fixed_amount | 3 | $3.00 off',
  '307 | Monthly, 20% off first, then 10% | Subscribe & save | subscription | month | 1 | true | 14 | percentage | 20 | 20% off',
  '7842138469200290 | Every 30 days | No selling plan | subscription | day | 30 | false | 0 | none | 0 | No discount',
];

/** By customer: subscription, type of its plan, and whether it entitles at 2026-11-20T12:00:00Z. */
export const entitlements = {
  500001: [
    [1001, 'subscription', true],
    [1006, 'membership', true],
  ],
  500002: [[1002, 'subscription', false]],
  500003: [[1003, 'subscription', true]],
  500004: [[1004, 'subscription', false]],
  500005: [[1005, 'subscription', false]],
  500007: [[1007, 'prepaid', true]],
  500008: [[1008, 'subscription', true]],
  500009: [],
  500011: [[1011, 'subscription', true]],
  8583393439723134: [[1010, 'subscription', true]],
};

/** Six subscriptions pay 30.60 + 99/12 + 60.60/3 + 72 + 19.99 × 365/360 + 9 × 365/84 a month. */
export const summary = {
  activeSubscribers: 5,
  pausedSubscribers: 1,
  mrr: 190.42,
  revenue30d: 65.89,
  newSubscribers30d: 2,
  cancelled30d: 1,
  churnRate30d: 0.2,
  saveRate: 0,
  cancelSessions30d: 0,
  dunningActive: 1,
  recoveryRate: 0,
  failedPayments30d: 2,
  avgSubscriptionValue: 48.53,
  upcomingRenewals7d: 1,
  upcomingRenewalsValue7d: 30.6,
  generatedAt: '2026-11-20T12:00:00.000Z',
  currency: 'USD',
};
