import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FixedClock } from '../clock.ts';
import type { JsonObject } from '../json.ts';
import { recordSchema } from '../records/records.ts';
import { deriveId } from '../ingest/source-ids.ts';
import { prepareRecord as prepareWithKey } from './records.ts';

const schema = recordSchema(2, new FixedClock('2026-11-20T12:00:00.000Z'), true);
const prepareRecord = (value: JsonObject) => prepareWithKey(value, schema, '0f'.repeat(32));

test('a record keeps its own fields, and nothing that only feeds may say', () => {
  const at = '2026-11-01T00:00:00Z';
  const known = {
    plan: {
      name: 'Box',
      groupName: 'Boxes',
      planType: 'subscription',
      intervalUnit: 'month',
      intervalCount: 1,
      active: true,
      productCount: 2,
      updatedAt: at,
      productIds: [81],
      pricing: { discountType: 'price', discountValue: '5.00', summary: 'Five' },
    },
    subscription: {
      customerId: 501,
      planId: 11,
      status: 'paused',
      createdAt: at,
      updatedAt: at,
      nextBillingDate: at,
      paidThroughAt: at,
      intervalUnit: 'week',
      intervalCount: 2,
      statusEvents: [{ at, to: 'paused' }],
      lines: [
        {
          lineId: 1,
          productId: 81,
          productTitle: 'Blend',
          variantId: 91,
          variantTitle: '1 lb',
          quantity: 2,
          currentPrice: '15.30',
        },
      ],
    },
    payment: {
      subscriptionId: 1001,
      cycle: '7',
      status: 'failed',
      failureKind: 'payment',
      failureCode: 'card_declined',
      amount: '30.60',
      processedAt: at,
      updatedAt: at,
    },
    refund: { paymentId: 9001, amount: '10.00', refundedAt: at, updatedAt: at },
    cancellation: {
      subscriptionId: 1001,
      detectedReason: 'other',
      offerType: 'pause',
      outcome: 'saved',
      createdAt: at,
      updatedAt: at,
    },
  };
  for (const [type, fields] of Object.entries(known)) {
    const record = { type, id: 1, ...fields };
    const sent = { ...record, preserve: 'amount', paidPeriods: [], email: 'x', lines2: [{}] };
    assert.deepEqual(prepareRecord(sent), { record: { ...record, sourceIds: {} } });
  }
});

test('records keep their known fields, and get integers for texts', () => {
  const plan = {
    type: 'plan',
    id: ' price_1 ',
    name: 'Box',
    planType: 'subscription',
    intervalUnit: 'month',
    intervalCount: 1,
    productIds: ['prod_1', 82],
    pricing: { discountType: 'percentage', discountValue: 10, other: true },
    other: true,
  };
  const { other: _other, ...known } = plan;
  assert.deepEqual(prepareRecord(plan), {
    record: {
      ...known,
      id: deriveId('plan', 'price_1'),
      productIds: [deriveId('product', 'prod_1'), 82],
      pricing: { discountType: 'percentage', discountValue: 10 },
      sourceIds: { id: 'price_1' },
    },
  });
  const id = deriveId('payment', '9001');
  const deletion = { type: 'delete', record: 'payment' };
  assert.deepEqual(prepareRecord({ ...deletion, id: '9001' }), {
    record: { ...deletion, id, sourceIds: {} },
  });
});

test('records that are not valid are refused without their values', () => {
  const refund = {
    type: 'refund',
    id: 1,
    paymentId: 2,
    amount: 1,
    refundedAt: '2026-11-01T00:00:00Z',
  };
  const cases: [object: JsonObject, problem: string][] = [
    [{ ...refund, id: '' }, 'id must not be empty'],
    [{ ...refund, id: null }, 'id must be an integer from 1 to 9007199254740991'],
    [{ ...refund, id: {} }, 'id must be an integer from 1 to 9007199254740991'],
    [
      { ...refund, paymentId: 'jo@example.com' },
      'paymentId is an e-mail address; send an id without personal data',
    ],
    [
      { ...refund, id: 'jo@example.com' },
      'id is an e-mail address; send an id without personal data',
    ],
    [
      { ...refund, type: 'coupon' },
      'type must be one of plan, subscription, payment, refund, cancellation, delete',
    ],
    [
      { type: 'delete', record: 'coupon', id: 'x' },
      'record must be one of plan, subscription, payment, refund, cancellation',
    ],
  ];
  for (const [value, problem] of cases) assert.deepEqual(prepareRecord(value), { problem });
});

test('lists are read only as far as they may be right', () => {
  const subscription = { type: 'subscription', id: 1, lines: [{}] };
  const read = (value: JsonObject) => prepareRecord(value);
  // Reading an entry would throw.
  const unread = Object.defineProperty({}, 'lineId', {
    enumerable: true,
    get: () => assert.fail('An entry was read.'),
  });
  const cases: [value: JsonObject, problem: string][] = [
    [
      { ...subscription, lines: Array.from({ length: 251 }, () => unread) },
      'lines must have at most 250 entries',
    ],
    [
      { ...subscription, statusEvents: Array.from({ length: 10_001 }, () => ({})) },
      'statusEvents must have at most 10000 entries',
    ],
    [
      { type: 'plan', productIds: Array(100_001).fill('a') },
      'productIds must have at most 100000 entries',
    ],
    [
      { type: 'plan', productIds: Array(100_000).fill(-1) },
      'productIds must have only texts and integers from 1',
    ],
    [{ ...subscription, lines: [...Array(10).fill(1), unread] }, 'lines must have only objects'],
  ];
  for (const [value, problem] of cases) assert.deepEqual(read(value), { problem });
  const empty = read({ type: 'plan', productIds: Array(100_000).fill('') });
  assert.ok('problem' in empty);
  assert.equal(empty.problem.split('; ').length, 10);
  // One that belongs elsewhere is no id.
  const elsewhere = read({ type: 'delete', record: 'plan', id: Array(1000).fill('') });
  assert.deepEqual(elsewhere, { problem: 'id must be an integer from 1 to 9007199254740991' });
});

test('a reason names ten problems', () => {
  const made = prepareRecord({
    type: 'subscription',
    id: 1,
    statusEvents: Array.from({ length: 1000 }, () => ({})),
  });
  assert.ok('problem' in made);
  const sentences = made.problem.split('; ');
  assert.equal(sentences.length, 11);
  assert.equal(sentences.at(-1), 'and more problems');
});
