import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FixedClock } from '../clock.ts';
import type { JsonObject } from '../json.ts';
import { recordSchema } from '../ingest/record.ts';
import { deriveId } from '../ingest/source-ids.ts';
import { prepareRecord, shapes } from './records.ts';

const schema = recordSchema(2, new FixedClock('2026-11-20T12:00:00.000Z'), true);

test('every field of a record is known, but for those that only feeds may send', () => {
  const onlyFeeds = new Set(['keeps', 'paidPeriods']);
  for (const option of schema.options) {
    const type = [...option.shape.type.values][0] as string;
    if (type === 'delete') continue;
    const { fields = [], ids = {}, parts = {} } = shapes[type] ?? {};
    assert.deepEqual(
      ['type', ...fields, ...Object.keys(ids), ...Object.keys(parts)].toSorted(),
      Object.keys(option.shape)
        .filter((name) => !onlyFeeds.has(name))
        .toSorted(),
    );
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
  assert.deepEqual(prepareRecord(plan, schema), {
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
  assert.deepEqual(prepareRecord({ ...deletion, id: '9001' }, schema), {
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
      { ...refund, type: 'coupon' },
      'type must be one of plan, subscription, payment, refund, cancellation, delete',
    ],
    [
      { type: 'delete', record: 'coupon', id: 'x' },
      'record must be one of plan, subscription, payment, refund, cancellation',
    ],
  ];
  for (const [value, problem] of cases) assert.deepEqual(prepareRecord(value, schema), { problem });
});
