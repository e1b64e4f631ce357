import assert from 'node:assert/strict';
import { test } from 'node:test';
import { statedValues } from './past-values.ts';

test('what a subscription was worth before it began is stated as the last of it', () => {
  const createdAt = Date.parse('2026-10-05T00:00:00.000Z');
  const past = [
    [createdAt - 2000, { '': '10' }],
    [createdAt - 1000, { '': '20' }],
    [createdAt + 1000, { '': '30' }],
    [createdAt + 1000, { '': '40' }],
  ] as const;
  assert.deepEqual(statedValues(past, { planInterval: 'month 1', createdAt }), [
    { at: '2026-10-05T00:00:00.000Z', mrr: '20' },
    { at: '2026-10-05T00:00:01.000Z', mrr: '40' },
  ]);
});
