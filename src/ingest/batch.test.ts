import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Batch } from './batch.ts';
import { type Line, recordLineOf } from './lines.ts';
import type { ImportRecord } from '../records/records.ts';

// Batches use the estimate to bound the size of transactions.
test('estimates the length of a parsed record to within 10% of its text', () => {
  const productTitle = 'A long title. '.repeat(70);
  const lines = Array.from({ length: 250 }, (_, lineId) => ({
    lineId,
    productId: 700_000 + lineId,
    productTitle,
    variantId: 900_000 + lineId,
    variantTitle: null,
    quantity: 1,
    currentPrice: '15.30',
  }));
  const record = {
    type: 'subscription',
    id: 7,
    statusEvents: [],
    lines,
  } as unknown as ImportRecord;
  const text = JSON.stringify(record);
  const charactersOf = (line: Line) => {
    const batch = new Batch();
    batch.add({ source: 'x', line, record, sourceIds: [] });
    return batch.characters;
  };
  assert.equal(charactersOf({ number: 1, text }), text.length);
  const estimated = charactersOf(recordLineOf({ number: 1, record }));
  assert.ok(estimated > 0.9 * text.length && estimated < 1.1 * text.length, String(estimated));
});
