import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fromStored, toStored } from './columns.ts';

test('a stored record names what it preserves as it always did, and texts stay as they are', () => {
  const text = JSON.stringify({ cycle: '"preserve":"keeps":', preserve: 'amount' });
  const stored = JSON.stringify({ cycle: '"preserve":"keeps":', keeps: 'amount' });
  assert.equal(toStored(text), stored);
  assert.equal(fromStored(stored), text);
});
