import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FixedClock } from '../clock.ts';
import { type RecordOf, type RecordType, recordSchema, parseRecord } from '../records/records.ts';
import {
  type StatusChange,
  cancellationRow,
  isUsualTransition,
  paymentRow,
  planRow,
  refundRow,
  statusChangesOf,
  subscriptionRows,
} from './rows.ts';

const today = '2027-01-01T00:00:00.000Z';
const now = Date.parse(today);
const schema = recordSchema(2, new FixedClock(today));

function parse<Type extends 'plan' | 'subscription' | 'payment'>(
  type: Type,
  fields: object,
): RecordOf<Type> {
  const parsed = parseRecord(schema, { type, id: 1, ...fields });
  assert.ok('record' in parsed, JSON.stringify(parsed));
  return parsed.record as RecordOf<Type>;
}

const plan = (fields: object = {}) =>
  parse('plan', {
    name: 'Box',
    planType: 'subscription',
    intervalUnit: 'month',
    intervalCount: 1,
    ...fields,
  });
const line = { lineId: 1, productId: 81, productTitle: 'Blend', variantId: 91, quantity: 1 };
const subscription = (fields: object = {}) =>
  parse('subscription', {
    customerId: 501,
    planId: 11,
    status: 'active',
    createdAt: '2026-11-01T00:00:00Z',
    lines: [{ ...line, currentPrice: '1.00' }],
    ...fields,
  });
const payment = (fields: object = {}) =>
  parse('payment', {
    subscriptionId: 1,
    cycle: 1,
    status: 'failed',
    amount: '1.00',
    processedAt: '2026-11-01T00:00:00Z',
    ...fields,
  });

test("summarises a plan's pricing if the source does not", () => {
  const summary = (pricing: object | undefined, currency = 'USD', digits = 2) =>
    planRow(plan(pricing && { pricing }), currency, digits).summary;
  assert.equal(summary(undefined), 'No discount');
  assert.equal(summary({ discountType: 'none' }), 'No discount');
  assert.equal(summary({ discountType: 'percentage', discountValue: '12.50' }), '12.5% off');
  assert.equal(summary({ discountType: 'fixed_amount', discountValue: '1500' }), '$1,500.00 off');
  assert.equal(summary({ discountType: 'price', discountValue: 9.5 }), '$9.50 each time');
  assert.equal(
    summary({ discountType: 'price', discountValue: '500' }, 'JPY', 0),
    '¥500 each time',
  );
  assert.equal(
    summary({ discountType: 'fixed_amount', discountValue: '2' }, 'KWD', 3),
    'KWD\u00a02.000 off',
  );
  assert.equal(summary({ discountType: 'price', discountValue: '5', summary: 'Five!' }), 'Five!');
  assert.equal(summary({ discountType: 'price', discountValue: '5', summary: '' }), '');
});

test("computes a subscription's price as the exact sum of its lines", () => {
  const price = (...lines: [currentPrice: string | number, quantity: number][]) =>
    subscriptionRows(
      subscription({
        lines: lines.map(([currentPrice, quantity], index) => ({
          ...line,
          lineId: index + 1,
          currentPrice,
          quantity,
        })),
      }),
      now,
    ).subscription.currentPrice;
  assert.equal(price(['15.30', 2]), '30.60');
  assert.equal(price(['0.10', 3]), '0.30');
  assert.equal(price([0.1, 1], [0.2, 1]), '0.3');
  assert.equal(price(['1', 1], ['0.05', 1]), '1.05');
  assert.equal(price(['0', 5]), '0');
  assert.equal(price(['0.01', 1], ['5', 7], ['2.5', 2]), '40.01');
  assert.equal(price(['999999999999.99', 1_000_000]), '999999999999990000.00');
});

test('derives status changes with and without a history', () => {
  const changes = (fields: object) =>
    statusChangesOf(subscription(fields), now).map(
      ({ at, from, to }) => `${at === null ? 'unknown' : new Date(at).toISOString()} ${from} ${to}`,
    );
  assert.deepEqual(changes({}), []);
  // Without a history: at updatedAt, and never before createdAt. Without that too, it is unknown.
  assert.deepEqual(changes({ status: 'paused', updatedAt: '2026-11-05T00:00:00Z' }), [
    '2026-11-05T00:00:00.000Z active paused',
  ]);
  assert.deepEqual(changes({ status: 'paused' }), ['unknown active paused']);
  assert.deepEqual(changes({ status: 'failed', updatedAt: '2026-10-05T00:00:00Z' }), [
    '2026-11-01T00:00:00.000Z active failed',
  ]);
  // With a history: only real changes, in the given order, even at one instant or before createdAt.
  assert.deepEqual(
    changes({
      status: 'cancelled',
      updatedAt: '2026-12-01T00:00:00Z',
      statusEvents: [
        { at: '2026-10-01T00:00:00Z', to: 'active' },
        { at: '2026-10-02T00:00:00Z', to: 'paused' },
        { at: '2026-11-03T00:00:00Z', to: 'paused' },
        { at: '2026-11-03T00:00:00Z', to: 'expired' },
        { at: '2026-11-03T00:00:00Z', to: 'active' },
        { at: '2026-11-04T00:00:00Z', to: 'cancelled' },
        { at: '2026-11-06T00:00:00Z', to: 'cancelled' },
      ],
    }),
    [
      '2026-11-01T00:00:00.000Z active paused',
      '2026-11-03T00:00:00.000Z paused expired',
      '2026-11-03T00:00:00.000Z expired active',
      '2026-11-04T00:00:00.000Z active cancelled',
    ],
  );
});

test('keeps a change without a date as the last one', () => {
  const rows = (fields: object, stored?: readonly StatusChange[]) => {
    const { subscription: row, events } = subscriptionRows(
      { ...subscription(fields), ...(stored && { preserve: 'history' as const }) },
      now,
      stored,
    );
    return [row.statusSince, events.map(({ at, from, to }) => [at, from, to])];
  };
  const [paused, later] = [Date.parse('2026-11-03T00:00:00Z'), Date.parse('2026-11-09T00:00:00Z')];
  const unknown = { at: null, to: 'cancelled' };
  const pause = { at: '2026-11-03T00:00:00Z', to: 'paused' };
  const pausing = [paused, 'active', 'paused'];
  assert.deepEqual(rows({ status: 'cancelled', statusEvents: [unknown] }), [null, []]);
  const ended = { status: 'cancelled', statusEvents: [pause, unknown] };
  assert.deepEqual(rows(ended), [null, [pausing]]);
  // What changes nothing needs no date.
  assert.deepEqual(rows({ status: 'paused', statusEvents: [pause, { at: null, to: 'paused' }] }), [
    paused,
    [pausing],
  ]);
  // A later record without a history leaves it unknown, until it says something else.
  const stored: readonly StatusChange[] = [
    { at: paused, from: 'active', to: 'paused' },
    { at: null, from: 'paused', to: 'cancelled' },
  ];
  assert.deepEqual(rows({ status: 'cancelled' }, stored), [null, [pausing]]);
  assert.deepEqual(rows({ status: 'active', updatedAt: '2026-11-09T00:00:00Z' }, stored), [
    later,
    [pausing, [later, 'paused', 'active']],
  ]);
  assert.deepEqual(rows({ status: 'paused', updatedAt: '2026-11-09T00:00:00Z' }, stored), [
    paused,
    [pausing],
  ]);
  // Only the last one may have none, and only of what is no longer active.
  const refusals = [[unknown, pause], [{ at: null, to: 'active' }], [{ to: 'cancelled' }]].map(
    (events) => {
      const { type, id, customerId, planId, lines } = subscription();
      const record = { type, id, customerId, planId, lines, createdAt: '2026-11-01T00:00:00Z' };
      const status = events.at(-1)?.to;
      return parseRecord(schema, { ...record, status, statusEvents: events });
    },
  );
  const onlyLast = 'statusEvents may have a null `at` only in the last one, unless that is active';
  assert.deepEqual(refusals, [
    { problem: onlyLast },
    { problem: onlyLast },
    { problem: 'statusEvents[0].at is missing' },
  ]);
});

test('sums the lines that have an interval of their own, by interval', () => {
  const prices = (...own: object[]) =>
    subscriptionRows(
      subscription({
        lines: own.map((each, index) => ({
          ...line,
          currentPrice: '1.50',
          lineId: index + 1,
          ...each,
        })),
      }),
      now,
    ).subscription;
  assert.equal(prices({}, {}).otherIntervals, null);
  const yearly = { intervalUnit: 'year', intervalCount: 1 };
  const mixed = prices(
    {},
    { ...yearly, quantity: 2 },
    { ...yearly, currentPrice: '0.000000000001' },
    { intervalUnit: 'week', intervalCount: 2, currentPrice: 7e-7 },
  );
  assert.deepEqual(mixed.otherIntervals, { 'year 1': '3.000000000001', 'week 2': '0.0000007' });
  assert.equal(mixed.currentPrice, '4.500000700001');
});

test('adds a status to the stored history, never before the last change', () => {
  const last = { at: Date.parse('2026-11-10T00:00:00Z'), from: 'active', to: 'paused' } as const;
  const added = (fields: object, stored: readonly StatusChange[] = [last]) =>
    statusChangesOf({ ...subscription(fields), preserve: 'history' }, now, stored)
      .slice(stored.length)
      .map(
        ({ at, from, to }) =>
          `${at === null ? 'unknown' : new Date(at).toISOString()} ${from} ${to}`,
      );
  assert.deepEqual(added({ status: 'paused', updatedAt: '2026-11-20T00:00:00Z' }), []);
  assert.deepEqual(added({ status: 'cancelled', updatedAt: '2026-11-20T00:00:00Z' }), [
    '2026-11-20T00:00:00.000Z paused cancelled',
  ]);
  // The source dates it before what is stored, which came first nevertheless.
  assert.deepEqual(added({ status: 'cancelled', updatedAt: '2026-11-09T23:59:59.999Z' }), [
    '2026-11-10T00:00:00.000Z paused cancelled',
  ]);
  assert.deepEqual(added({ status: 'active', updatedAt: '2026-11-10T00:00:00.000Z' }), [
    '2026-11-10T00:00:00.000Z paused active',
  ]);
  // Without a date, from the import that sees it first.
  assert.deepEqual(added({ status: 'cancelled' }), ['2027-01-01T00:00:00.000Z paused cancelled']);
  const ahead = { ...last, at: now + 60_000 };
  assert.deepEqual(added({ status: 'cancelled' }, [ahead]), [
    '2027-01-01T00:01:00.000Z paused cancelled',
  ]);
});

test('usual status transitions are those of the definitions', () => {
  const statuses = ['active', 'paused', 'cancelled', 'expired', 'failed'] as const;
  const usual = statuses.map((from) => statuses.filter((to) => isUsualTransition(from, to)));
  assert.deepEqual(usual, [
    ['active', 'paused', 'cancelled', 'expired', 'failed'],
    ['active', 'paused', 'cancelled', 'expired', 'failed'],
    ['cancelled'],
    ['expired'],
    ['active', 'paused', 'cancelled', 'failed'],
  ]);
});

test('only a failed payment has a failure kind and code', () => {
  const failure = (fields: object = {}) => {
    const { failureKind, failureCode } = paymentRow(payment(fields));
    return [failureKind, failureCode];
  };
  assert.deepEqual(failure(), ['payment', null]);
  assert.deepEqual(failure({ failureCode: null }), ['payment', null]);
  const given = { failureKind: 'inventory', failureCode: 'INSUFFICIENT_INVENTORY' };
  assert.deepEqual(failure(given), ['inventory', 'INSUFFICIENT_INVENTORY']);
  assert.deepEqual(failure({ ...given, status: 'succeeded' }), [null, null]);
  assert.deepEqual(failure({ ...given, status: 'pending' }), [null, null]);
});

test('equivalent records have the same digest, and different ones do not', () => {
  const digest = (fields: object) =>
    subscriptionRows(subscription(fields), now).subscription.digest;
  assert.match(digest({}), /^[0-9a-f]{32}$/);
  assert.equal(digest({ createdAt: '2026-11-01T01:00:00.000+01:00', note: 'x' }), digest({}));
  assert.equal(digest({ updatedAt: null, statusEvents: [] }), digest({}));
  assert.notEqual(digest({ updatedAt: '2026-11-02T00:00:00Z' }), digest({}));
  assert.notEqual(digest({ createdAt: '2026-11-01T00:00:00.001Z' }), digest({}));
  const reordered = [2, 1].map((lineId) => ({ ...line, lineId, currentPrice: '1.00' }));
  assert.notEqual(digest({ lines: reordered }), digest({ lines: reordered.toReversed() }));
});

test('takes the number of products from the source, or counts their ids', () => {
  const count = (fields: object) => planRow(plan(fields), 'USD', 2).productCount;
  assert.deepEqual(
    [
      count({}),
      count({ productIds: [81, 82] }),
      count({ productCount: 14 }),
      count({ productCount: 0, productIds: [81] }),
      count({ productCount: null, productIds: [81] }),
    ],
    [0, 2, 14, 0, 1],
  );
});

test('digests equal those stored by earlier versions', () => {
  assert.equal(planRow(plan(), 'USD', 2).digest, '0f0c9a1b0ad08dd814f690685ba1f813');
  assert.equal(
    subscriptionRows(subscription(), now).subscription.digest,
    '0d940e4b73e1c22cbb74aa7cbfbcdaea',
  );
  assert.equal(paymentRow(payment()).digest, 'a401bb1c32aed698fcb312f0f87d0441');
  assert.equal(
    paymentRow(payment({ failureCode: null })).digest,
    'a401bb1c32aed698fcb312f0f87d0441',
  );
  assert.notEqual(
    paymentRow(payment({ failureCode: 'card_declined' })).digest,
    'a401bb1c32aed698fcb312f0f87d0441',
  );
});

// Every field has a value. A new field leaves these digests as they are, or all stored records would be replaced.
test('digests of whole records equal those stored by earlier versions', () => {
  const at = '2026-11-01T00:00:00Z';
  const fromFeed = recordSchema(2, new FixedClock(today), true);
  const whole = <Type extends RecordType>(type: Type, fields: object): RecordOf<Type> => {
    const parsed = parseRecord(fromFeed, { type, ...fields });
    assert.ok('record' in parsed, JSON.stringify(parsed));
    return parsed.record as RecordOf<Type>;
  };
  const box = {
    id: 11,
    name: 'Box',
    groupName: 'Boxes',
    planType: 'prepaid',
    intervalUnit: 'month',
    intervalCount: 3,
    active: false,
    productIds: [81, 82],
    productCount: 5,
    pricing: { discountType: 'percentage', discountValue: '12.5', summary: 'Less' },
    updatedAt: at,
    preserve: 'membership',
  };
  const cancelled = {
    id: 1001,
    customerId: 501,
    planId: 11,
    status: 'cancelled',
    createdAt: at,
    updatedAt: '2026-11-05T00:00:00Z',
    nextBillingDate: '2027-02-01T00:00:00Z',
    paidThroughAt: '2027-03-01T00:00:00Z',
    statusEvents: [
      { at: '2026-11-03T00:00:00Z', to: 'paused' },
      { at: '2026-11-05T00:00:00Z', to: 'cancelled' },
    ],
    intervalUnit: 'week',
    intervalCount: 2,
    preserve: 'history',
    paidPeriods: [{ payment: 9, through: 1793491200000, isStated: true }],
    lines: [{ ...line, quantity: 2, variantTitle: '1 lb', currentPrice: 15.3 }],
  };
  const failed = {
    id: 9001,
    subscriptionId: 1001,
    cycle: 7,
    status: 'failed',
    failureKind: 'payment',
    failureCode: 'card_declined',
    amount: '30.60',
    processedAt: at,
    updatedAt: at,
  };
  const refund = { id: 71, paymentId: 9001, amount: '10.00', refundedAt: at, updatedAt: at };
  const session = {
    id: 7001,
    subscriptionId: 1001,
    detectedReason: 'too_expensive',
    offerType: 'pause',
    outcome: 'saved',
    createdAt: at,
    updatedAt: at,
  };
  assert.deepEqual(
    [
      planRow(whole('plan', box), 'USD', 2),
      subscriptionRows(whole('subscription', cancelled), now).subscription,
      paymentRow(whole('payment', failed)),
      paymentRow(whole('payment', { ...failed, preserve: 'amount' })),
      refundRow(whole('refund', refund)),
      cancellationRow(whole('cancellation', session)),
    ].map(({ digest }) => digest),
    [
      '5700216ba8c1619811664cfbc7b04aa6',
      '57f99702f6571cd943a1bff061c71141',
      'c68188d1524e719e487d50493658bea0',
      '30f20813162caa2d1757a05e8303555f',
      '4cc8f24f12f181bb77e8816008250a53',
      '255c78d195625496a35d73ce69ffb02a',
    ],
  );
});
