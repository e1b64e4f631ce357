import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readBulkResults } from '../../../src/platforms/shopify/bulk/records.ts';
import { billed, contract, line, money, order, refund, success } from './nodes.ts';
import { type MadeRecord, dollars, recordsOf } from './records-of.ts';
import { file } from './samples.ts';

const at = '2026-11-05T11:00:00Z';
const withheld = { originOrder: null };

/** The payments of one contract with one line, as "id status amount preserve". */
const shown = (payments: readonly MadeRecord[]) =>
  payments.map(({ id, status, amount, preserve }) =>
    [id, status, amount, ...(preserve === undefined ? [] : ['(estimate)'])].join(' '),
  );

test('takes the amount of a payment from its order, and estimates it without one', async () => {
  const { payments, refunds } = await recordsOf([
    contract(1, withheld),
    line(1, 1),
    billed(1, 7, '2026-09-05T11:00:00Z', success(order(71, '18.50'))),
    billed(1, 8, '2026-10-05T11:00:00Z', success(null)),
    billed(1, 9, at, success(order(73, '0.0'))),
  ]);
  assert.deepEqual(shown(payments), [
    '7 succeeded 18.5',
    '8 succeeded 15.3 (estimate)',
    '9 succeeded 0',
  ]);
  assert.deepEqual(refunds, []);
});

test('makes records of refunds, except of those that only return goods to stock', async () => {
  const paid = order(71, '18.50', {
    refunds: [
      refund(501, '5.25', '2026-11-06T00:00:00Z'),
      refund(502, '0.00', '2026-11-07T00:00:00Z'),
      refund(503, '13.25', '2026-11-08T00:00:00Z'),
    ],
  });
  const { refunds } = await recordsOf([
    contract(1, withheld),
    line(1, 1),
    billed(1, 7, at, success(paid)),
  ]);
  assert.deepEqual(refunds, [
    {
      type: 'refund',
      id: 501,
      paymentId: 7,
      amount: '5.25',
      refundedAt: '2026-11-06T00:00:00.000Z',
      updatedAt: null,
    },
    {
      type: 'refund',
      id: 503,
      paymentId: 7,
      amount: '13.25',
      refundedAt: '2026-11-08T00:00:00.000Z',
      updatedAt: null,
    },
  ]);
});

test('counts a test order as no payment, and its period as not paid for', async () => {
  const tried = order(71, '18.50', { test: true, refunds: [refund(501, '1.0', at)] });
  const { payments, refunds, subscriptions } = await recordsOf([
    contract(1, { originOrder: order(70, '18.50', { test: true }) }),
    line(1, 1),
    billed(1, 7, at, success(tried)),
  ]);
  assert.deepEqual(shown(payments), ['7 pending 0']);
  assert.deepEqual(refunds, []);
  assert.equal(subscriptions[0]?.['paidThroughAt'], null);
});

async function problemsOf(...nodes: object[]) {
  const problems: string[] = [];
  const types: string[] = [];
  for await (const lines of readBulkResults([file('f', nodes)], dollars)) {
    for (const { text, problem, countsAs } of lines) {
      if (problem === undefined) types.push(JSON.parse(text).type);
      else problems.push(`${countsAs}: ${problem}`);
    }
  }
  return { problems, types };
}

test('refuses an attempt with an order in another currency, or without its amounts', async () => {
  const cases: [paid: object, problem: string][] = [
    [
      order(71, '18.50', { totalPriceSet: money('18.50', 'CAD') }),
      "payment: the order's total is in CAD, and the shop's currency is USD",
    ],
    [
      order(71, '18.50', { totalPriceSet: money('18.505') }),
      'payment: totalPriceSet.shopMoney.amount must be an amount of 0 or more, below 10^12, with at most 2 decimals',
    ],
    [
      order(71, '18.50', { refunds: null }),
      "payment: the order's refunds must be a list of objects",
    ],
    [order(71, '18.50', { refunds: [{}] }), 'payment: id is missing'],
  ];
  for (const [paid, problem] of cases) {
    const { problems, types } = await problemsOf(
      contract(1, withheld),
      line(1, 1),
      billed(1, 7, at, success(paid)),
    );
    assert.deepEqual(problems, [problem]);
    assert.deepEqual(types, ['plan', 'subscription']);
  }
});

test('refuses only the first payment if the first order is in another currency', async () => {
  const { problems, types } = await problemsOf(
    contract(1, { originOrder: order(70, '9.0', { totalPriceSet: money('9.0', 'CAD') }) }),
    line(1, 1),
  );
  assert.deepEqual(problems, [
    "payment: in its originOrder, the order's total is in CAD, and the shop's currency is USD",
  ]);
  assert.deepEqual(types, ['plan', 'subscription']);
});

test('makes the first order the first payment', async () => {
  const first = order(70, '20.80', {
    processedAt: '2026-03-01T09:00:05Z',
    refunds: [refund(500, '2.0', '2026-03-09T00:00:00Z')],
  });
  const { payments, refunds } = await recordsOf([
    contract(1, { originOrder: first }),
    line(1, 1),
    billed(1, 7, '2026-03-01T20:00:00Z', success(null)),
  ]);
  // 2^52 and the first 52 bits of the SHA-256 of "Order: 1 70" and "Refund: 1 500".
  const [paymentId, refundId] = [5826684517583337, 6220125482379873];
  assert.deepEqual(payments[0], {
    type: 'payment',
    id: paymentId,
    subscriptionId: 1,
    // The attempts of that day have their names whether or not the first order is visible.
    cycle: '2026-03-01-2',
    status: 'succeeded',
    failureKind: null,
    amount: '20.8',
    processedAt: '2026-03-01T09:00:05.000Z',
    updatedAt: '2026-11-15T09:00:00.000Z',
  });
  assert.equal(payments[1]?.['cycle'], '2026-03-01');
  assert.deepEqual(refunds, [
    {
      type: 'refund',
      id: refundId,
      paymentId,
      amount: '2',
      refundedAt: '2026-03-09T00:00:00.000Z',
      updatedAt: null,
    },
  ]);
});

test('gives a contract its share of an order that also holds other goods', async () => {
  /** Amounts of the payment and the refund of 10, for two things at 15.30. */
  const shares = async (over: object) => {
    const first = order(70, '100.00', { refunds: [refund(500, '10.0', at)], ...over });
    const records = await recordsOf([
      contract(1, { originOrder: first }),
      line(1, 1, { quantity: 2 }),
    ]);
    return [...records.payments, ...records.refunds].map(({ amount, preserve }) => [
      amount,
      preserve,
    ]);
  };
  const other = { subtotalLineItemsQuantity: 5 };
  const cases: [over: object, payment: string, refund: string, preserve?: 'amount'][] = [
    [{ subtotalLineItemsQuantity: 2, subtotalPriceSet: money('90.0') }, '100', '10'],
    // 30.60 of 91.80 are a third.
    [{ ...other, subtotalPriceSet: money('91.80') }, '33.33', '3.33', 'amount'],
    // Three eighths.
    [{ ...other, subtotalPriceSet: money('81.6') }, '37.5', '3.75', 'amount'],
    // The first time was cheaper: at most everything.
    [{ ...other, subtotalPriceSet: money('20.0') }, '100', '10'],
    // Two of five things that were free.
    [{ ...other, subtotalPriceSet: money('0.0') }, '40', '4', 'amount'],
    [{ ...other, subtotalPriceSet: null }, '40', '4', 'amount'],
  ];
  for (const [over, payment, refunded, preserve] of cases) {
    assert.deepEqual(await shares(over), [
      [payment, preserve],
      [refunded, preserve],
    ]);
  }
  // Half of 1,001, rounded up.
  const yen = { currency: 'JPY', minorDigits: 0 };
  const inYen = (amount: string) => money(amount, 'JPY');
  const { payments } = await recordsOf(
    [
      contract(1, {
        currencyCode: 'JPY',
        originOrder: order(70, '0', {
          ...other,
          totalPriceSet: inYen('1001.0'),
          subtotalPriceSet: inYen('1000'),
        }),
      }),
      line(1, 1, { currentPrice: { amount: '500.0', currencyCode: 'JPY' } }),
    ],
    yen,
  );
  assert.equal(payments[0]?.['amount'], '501');
});

test('makes no payment of a first order whose amounts are unknown', async () => {
  for (const originOrder of [null, {}, { id: 'gid://shopify/Order/70' }]) {
    const { payments } = await recordsOf([contract(1, { originOrder }), line(1, 1)]);
    assert.deepEqual(payments, []);
  }
});

test('takes retries with the same group into one cycle, and guesses the others', async () => {
  const attempts: [group: string | null, time: string, cycle: string][] = [
    ['a', '2026-01-31T09:00:00Z', '2026-01-31'],
    // Guessed: within an interval of an attempt that is unpaid.
    [null, '2026-01-31T10:00:00Z', '2026-01-31-2'],
    ['b', '2026-02-03T09:00:00Z', '2026-02-03'],
    [null, '2026-02-04T09:00:00Z', '2026-01-31-2'],
    // Longer than an interval after the first.
    ['a', '2026-03-09T09:00:00Z', '2026-01-31'],
  ];
  const nodes = attempts.map(([paymentGroupId, time], index) =>
    billed(
      1,
      index + 1,
      time,
      { __typename: 'SubscriptionBillingAttemptPendingState' },
      { paymentGroupId },
    ),
  );
  const { payments } = await recordsOf([contract(1, withheld), line(1, 1), ...nodes.toReversed()]);
  assert.deepEqual(
    payments.toSorted((a, b) => Number(a['id']) - Number(b['id'])).map(({ cycle }) => cycle),
    attempts.map(([, , cycle]) => cycle),
  );
});
