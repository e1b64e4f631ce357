/** What the samples with orders have that the others have not, worked out by hand. */

const month = 'month | 1';

export const subscriptions = [
  `1001 | 500001 | 301 | active | 2026-03-01T09:00:00Z | 30.6 | ${month} | 2026-11-24T09:00:00Z | 2026-11-24T09:00:00Z | 2026-03-01T09:00:00Z | 2026-11-15T09:00:03Z`,
  '1002 | 500002 | 302 | paused | 2026-11-01T10:00:00Z | 24 | week | 2 | 2026-11-08T10:00:00Z | 2026-11-08T10:00:00Z | 2026-06-10T10:00:00Z | 2026-11-01T10:00:00Z',
  // Its last payment was refunded.
  `1003 | 500003 | 301 | cancelled | 2026-11-17T11:00:00Z | 15.3 | ${month} | null | 2026-06-05T11:00:00Z | 2026-05-05T11:00:00Z | 2026-11-17T11:00:00Z`,
  `1004 | 500004 | 303 | expired | 2026-11-20T00:00:00Z | 29 | ${month} | null | 2026-09-20T12:00:00Z | 2026-08-20T12:00:00Z | 2026-11-20T00:00:00Z`,
  `1005 | 500005 | 301 | failed | 2026-10-30T08:00:00Z | 15.3 | ${month} | 2026-10-01T08:00:00Z | null | 2026-04-01T08:00:00Z | 2026-10-30T08:00:00Z`,
  '1006 | 500001 | 304 | active | 2026-01-01T00:00:00Z | 99 | year | 1 | 2027-01-01T00:00:00Z | 2027-01-01T00:00:00Z | 2026-01-01T00:00:00Z | 2026-01-01T00:00:05Z',
  '1007 | 500007 | 305 | active | 2026-10-25T13:00:00Z | 60.6 | month | 3 | 2027-01-25T13:00:00Z | 2027-01-25T13:00:00Z | 2026-10-25T13:00:00Z | 2026-10-25T13:00:09Z',
  // An invoice that was paid already.
  `1008 | 500008 | 301 | active | 2026-02-14T14:00:00Z | 72 | ${month} | 2026-11-14T14:00:00Z | 2026-12-18T14:00:00Z | 2026-02-14T14:00:00Z | 2026-11-18T14:00:00Z`,
  // Its customer, product and selling plan were deleted in Shopify, so their ids are derived.
  '1010 | 8583393439723134 | 7842138469200290 | active | 2026-09-09T16:00:00Z | 19.99 | day | 30 | 2026-12-09T16:00:00Z | 2026-12-09T16:00:00Z | 2026-09-09T16:00:00Z | 2026-11-09T16:00:00Z',
  // It began with a test.
  '1011 | 500011 | 306 | active | 2026-11-19T17:00:00Z | 9 | week | 1 | null | null | 2026-11-19T17:00:00Z | 2026-11-19T17:00:00Z',
];

/** Ids of first payments are 2^52 + the first 52 bits of the SHA-256 of "Order: CONTRACT ORDER". */
export const payments = [
  '2001 | 1001 | 2026-10-24 | succeeded | null | 33.05 | 2026-10-24T09:00:00Z | 2026-11-15T09:00:03Z',
  '2002 | 1003 | 2026-11-05 | succeeded | null | 15.3 | 2026-11-05T11:00:00Z | 2026-11-17T11:00:00Z',
  '2003 | 1005 | 2026-10-01 | failed | payment | 15.3 | 2026-10-01T08:00:00Z | 2026-10-30T08:00:00Z',
  '2004 | 1005 | 2026-10-01 | failed | payment | 15.3 | 2026-10-15T08:00:00Z | 2026-10-30T08:00:00Z',
  '2005 | 1005 | 2026-10-30 | failed | payment | 15.3 | 2026-10-30T08:00:00Z | 2026-10-30T08:00:00Z',
  '2006 | 1008 | 2026-11-14 | failed | payment | 72 | 2026-11-14T14:00:00Z | 2026-11-18T14:00:00Z',
  '2007 | 1008 | 2026-11-14 | succeeded | null | 0 | 2026-11-18T14:00:00Z | 2026-11-18T14:00:00Z',
  '2009 | 1002 | 2026-10-25 | failed | inventory | 24 | 2026-10-25T10:00:00Z | 2026-11-01T10:00:00Z',
  '2010 | 1010 | 2026-11-09 | succeeded | null | 19.99 | 2026-11-09T16:00:00Z | 2026-11-09T16:00:00Z',
  '2011 | 1011 | 2026-11-19 | pending | null | 9 | 2026-11-19T18:00:00Z | 2026-11-19T18:00:00Z',
  '5399706363804000 | 1003 | 2026-05-05 | succeeded | null | 15.3 | 2026-05-05T11:00:00Z | 2026-11-17T11:00:00Z',
  // Half of an order of 64.00, which also holds other goods.
  '5558865994067294 | 1004 | 2026-08-20 | succeeded | null | 32 | 2026-08-20T12:00:00Z | 2026-11-20T00:00:00Z',
  '6090246513263435 | 1001 | 2026-03-01 | succeeded | null | 33.05 | 2026-03-01T09:00:02Z | 2026-11-15T09:00:03Z',
  '7841819464259319 | 1007 | 2026-10-25 | succeeded | null | 66.6 | 2026-10-25T13:00:00Z | 2026-10-25T13:00:09Z',
  '8973471614694654 | 1006 | 2026-01-01 | succeeded | null | 99 | 2026-01-01T00:00:00Z | 2026-01-01T00:00:05Z',
];

/** The id of a refund of a first order has the SHA-256 of "Refund: CONTRACT REFUND". */
export const refunds = [
  '80001 | 2001 | 5 | 2026-10-28T10:00:00Z',
  '80003 | 2002 | 15.3 | 2026-11-16T10:00:00Z',
  '5882796720059327 | 5558865994067294 | 4 | 2026-08-25T10:00:00Z',
];

/** By customer: subscription, type of its plan, and whether it entitles at 2026-11-20T12:00:00Z. */
export const entitlements = {
  500003: [[1003, 'subscription', false]],
  500004: [[1004, 'subscription', false]],
  500005: [[1005, 'subscription', false]],
  500008: [[1008, 'subscription', true]],
};

/** 33.05 + 15.30 + 66.60 + 19.99 in 30 days, less 5.00 and 15.30. */
export const summary = {
  revenue30d: 114.64,
  dunningActive: 0,
  recoveryRate: 0.5,
};
