import assert from 'node:assert/strict';
import { test } from 'node:test';
import { demoRecordOptions } from '../../src/commands/serve/demo.ts';
import { generateShop } from '../../src/demo/generate.ts';
import type { DemoRecord, LineRecord } from '../../src/demo/records.ts';
import { exampleShop } from './examples.ts';

/** What an example says of a subscription, whatever the day. */
function shapeOf(record: DemoRecord | object): object {
  const { type, id, name, intervalCount, customerId, planId, status, lines } = record as Record<
    string,
    unknown
  >;
  const prices = (lines as LineRecord[] | undefined)?.map(
    ({ quantity, currentPrice }) => `${quantity} × ${currentPrice}`,
  );
  return type === 'plan'
    ? { id, name, intervalCount }
    : { id, customerId, planId, status, prices: status === 'active' ? prices : undefined };
}

// The examples run against this shop in examples.test.ts, so the demo's answers are theirs.
test('the demo shop has what the examples ask for, whenever it was made', () => {
  const expected = exampleShop.map(shapeOf);
  for (let month = 0; month < 24; month += 2) {
    const endAt = Date.UTC(2026, 10 + month, 1 + month, month, 7);
    const records = new Map(
      generateShop({ ...demoRecordOptions, endAt }).map((record) => [
        `${record.type} ${record.id}`,
        record,
      ]),
    );
    const found = exampleShop.map((example) => {
      const { type, id } = example as { type: string; id: number };
      return records.get(`${type} ${id}`);
    });
    assert.deepEqual(
      found.map((record) => record && shapeOf(record)),
      expected,
      new Date(endAt).toISOString(),
    );
    const paidUntil = found.map((record) =>
      record?.type === 'subscription' ? Date.parse(record.paidThroughAt ?? '') > endAt : undefined,
    );
    // The cancelled one no longer entitles its customer, the others do.
    assert.deepEqual(paidUntil.slice(-3), [false, true, true]);
  }
});
