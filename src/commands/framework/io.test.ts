import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeProgress } from './io.ts';

test('shows a percentage where the size of the work is known', () => {
  const state = { count: 12_345, unit: 'records', seconds: 2 };
  assert.equal(describeProgress({ ...state, share: undefined }), '12,345 records, 6,173 a second');
  assert.equal(describeProgress({ ...state, share: 0.456 }), '12,345 records, 6,173 a second, 45%');
});
