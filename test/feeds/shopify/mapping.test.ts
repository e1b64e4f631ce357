import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readBulkResults } from '../../../src/platforms/shopify/bulk/records.ts';
import { attempt, contract, line } from './nodes.ts';
import { type MadeRecord, dollars, policy, recordsOf } from './records-of.ts';
import { file } from './samples.ts';

const failed = { errorCode: 'CARD_DECLINED' };

/** The cycles of attempts at these times, in the order of their ids; "!" marks a failure. */
async function cyclesOf(interval: object, ...times: readonly string[]) {
  const attempts = times.map((time, index) =>
    attempt(1, index + 1, `2026-${time.replace('!', '')}:00:00Z`, time.endsWith('!') ? failed : {}),
  );
  const { payments } = await recordsOf([
    contract(1, { billingPolicy: interval }),
    line(1, 1),
    ...attempts.toReversed(),
  ]);
  return payments.toSorted((a, b) => Number(a['id']) - Number(b['id'])).map(({ cycle }) => cycle);
}

test('puts retries of a bill into one cycle, which ends with a success', async () => {
  assert.deepEqual(await cyclesOf(policy('MONTH'), '01-31T09!', '02-03T09!', '02-05T09'), [
    '2026-01-31',
    '2026-01-31',
    '2026-01-31',
  ]);
  assert.deepEqual(await cyclesOf(policy('MONTH'), '01-31T09', '02-03T09!', '02-05T09'), [
    '2026-01-31',
    '2026-02-03',
    '2026-02-03',
  ]);
});

test('ends a cycle one billing interval after its first attempt', async () => {
  // A month from January 31 ends on February 28, at the same time of day.
  assert.deepEqual(await cyclesOf(policy('MONTH'), '01-31T09!', '02-28T08!', '02-28T09!'), [
    '2026-01-31',
    '2026-01-31',
    '2026-02-28',
  ]);
  assert.deepEqual(await cyclesOf(policy('DAY', 2), '01-01T09!', '01-02T09!', '01-03T09!'), [
    '2026-01-01',
    '2026-01-01',
    '2026-01-03',
  ]);
});

test('gives cycles that begin on the same day different names', async () => {
  assert.deepEqual(await cyclesOf(policy('WEEK'), '01-31T09', '01-31T10', '01-31T11!'), [
    '2026-01-31',
    '2026-01-31-2',
    '2026-01-31-3',
  ]);
});

test('maps the state of an attempt to a payment', async () => {
  const at = '2026-11-05T11:00:00Z';
  const cases: [
    over: { errorCode?: string; ready?: boolean; completedAt?: null },
    status: string,
    failureKind?: string,
  ][] = [
    [{}, 'succeeded'],
    [{ ready: false, completedAt: null }, 'pending'],
    [{ errorCode: 'EXPIRED_PAYMENT_METHOD' }, 'failed', 'payment'],
    [{ errorCode: 'INSUFFICIENT_INVENTORY' }, 'failed', 'inventory'],
    [{ errorCode: 'INVENTORY_ALLOCATIONS_NOT_FOUND' }, 'failed', 'inventory'],
    [{ errorCode: 'A_CODE_THAT_COMES_LATER', ready: false }, 'failed', 'payment'],
  ];
  for (const [over, status, failureKind] of cases) {
    const { payments } = await recordsOf([
      contract(1),
      line(1, 1, { quantity: 3 }),
      line(1, 2, { currentPrice: { amount: '1.05', currencyCode: 'USD' } }),
      attempt(1, 7, at, over),
    ]);
    assert.deepEqual(payments, [
      {
        type: 'payment',
        id: 7,
        subscriptionId: 1,
        cycle: '2026-11-05',
        status,
        failureKind: failureKind ?? null,
        ...(over.errorCode === undefined ? {} : { failureCode: over.errorCode }),
        amount: '46.95',
        processedAt: '2026-11-05T11:00:00.000Z',
        updatedAt: '2026-11-15T09:00:00.000Z',
        preserve: 'amount',
      },
    ]);
  }
});

test('dates a payment by its completion, and its cycle by the origin time', async () => {
  const { payments } = await recordsOf([
    contract(1),
    line(1, 1),
    attempt(1, 7, '2026-11-20T10:00:00Z', {
      originTime: '2026-11-18T10:00:00Z',
      completedAt: '2026-11-21T10:00:00Z',
    }),
  ]);
  assert.equal(payments[0]?.['processedAt'], '2026-11-21T10:00:00.000Z');
  assert.equal(payments[0]?.['cycle'], '2026-11-18');
  // Newer than the contract, so that the pending version of the payment is stale.
  assert.equal(payments[0]?.['updatedAt'], '2026-11-21T10:00:00.000Z');
});

test('takes the latest known end of a paid period as paidThroughAt', async () => {
  const nothing = { nextBillingDate: null, lastPaymentStatus: null, originOrder: null };
  const paidThrough = async (over: object, ...attempts: object[]) => {
    const { subscriptions } = await recordsOf([contract(1, over), line(1, 1), ...attempts]);
    return subscriptions[0]?.['paidThroughAt'];
  };
  assert.equal(await paidThrough(nothing), null);
  const origin = { ...nothing, originOrder: {}, createdAt: '2026-01-31T09:00:00Z' };
  assert.equal(await paidThrough(origin), '2026-02-28T09:00:00.000Z');
  const unpaid = {
    ...origin,
    nextBillingDate: '2026-05-01T00:00:00Z',
    lastPaymentStatus: 'FAILED',
  };
  assert.equal(await paidThrough(unpaid), '2026-02-28T09:00:00.000Z');
  assert.equal(
    await paidThrough({ ...unpaid, lastPaymentStatus: 'SUCCEEDED' }),
    '2026-05-01T00:00:00.000Z',
  );
  const attempts = [
    attempt(1, 1, '2026-03-31T09:00:00Z', { originTime: null }),
    attempt(1, 2, '2026-03-30T09:00:00Z'),
    attempt(1, 3, '2026-04-15T09:00:00Z', failed),
    attempt(1, 4, '2026-04-16T09:00:00Z', { ready: false }),
  ];
  assert.equal(await paidThrough(nothing, ...attempts), '2026-04-30T09:00:00.000Z');
});

test('tells products and variants deleted in Shopify apart by their titles', async () => {
  const deleted = (number: number, title: string, variantTitle: string | null) =>
    line(1, number, { title, variantTitle, productId: null, variantId: null });
  const { subscriptions } = await recordsOf([
    contract(1),
    deleted(1, 'Tea', null),
    deleted(2, 'Tea', 'Green'),
    deleted(3, 'Cup', null),
    line(1, 4, { variantId: null }),
    line(1, 5, { variantTitle: 'Default Title' }),
  ]);
  assert.deepEqual(
    subscriptions[0]?.lines.map((each) => [
      each['productId'],
      each['variantId'],
      each['variantTitle'],
    ]),
    [
      [5790003352637292, 6326898314289064, ''],
      [5790003352637292, 8096994011523712, 'Green'],
      [5241629973425209, 7160461565386109, ''],
      [8001, 5667027129510243, '1 lb'],
      [8001, 9001, ''],
    ],
  );
});

test('takes the plan of the first line that has one, by line id', async () => {
  const on = (planId: number | null) => ({
    sellingPlanId: planId && `gid://shopify/SellingPlan/${planId}`,
  });
  const { subscriptions } = await recordsOf([
    contract(1),
    line(1, 3, on(303)),
    line(1, 1, on(null)),
    line(1, 2, on(302)),
  ]);
  assert.equal(subscriptions[0]?.['planId'], 302);
});

test('ignores trailing zeros of an amount', async () => {
  const yen = { currency: 'JPY', minorDigits: 0 };
  const price = (amount: string, currencyCode: string) => ({
    currentPrice: { amount, currencyCode },
  });
  const { subscriptions } = await recordsOf(
    [
      contract(1, { currencyCode: 'JPY' }),
      line(1, 1, price('1000.0', 'JPY')),
      line(1, 2, price('0.00', 'JPY')),
      line(1, 3, price('100', 'JPY')),
    ],
    yen,
  );
  assert.deepEqual(
    subscriptions[0]?.lines.map((each) => each['currentPrice']),
    ['1000', '0', '100'],
  );
  const inDollars = await recordsOf([contract(1), line(1, 1, price('15.300', 'USD'))]);
  assert.equal(inDollars.subscriptions[0]?.lines[0]?.['currentPrice'], '15.3');
});

test('yields each version of a contract, the oldest first, with its own lines', async () => {
  const old = contract(1, { updatedAt: '2026-11-01T00:00:00Z' });
  const renewed = contract(1, { status: 'PAUSED' });
  const records: MadeRecord[] = [];
  const files = [
    file('new', [line(1, 2), renewed]),
    file('old', [old, line(1, 1), attempt(1, 7, '2026-10-01T00:00:00Z')]),
    file('neither', [line(1, 3)]),
  ];
  for await (const lines of readBulkResults(files, dollars)) {
    records.push(...lines.map(({ text }): MadeRecord => JSON.parse(text)));
  }
  assert.deepEqual(
    records.map((record) => [record.type, record['status'], record.lines?.length]),
    [
      ['plan', undefined, undefined],
      ['subscription', 'active', 2],
      ['payment', 'succeeded', undefined],
      ['subscription', 'paused', 2],
    ],
  );
});
