import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SortedIds } from './snapshot.ts';

test('contains exactly the ids that were added', () => {
  const ids = new SortedIds();
  assert.equal(ids.has(0), false);
  // Every third number, shuffled: 7,919 and 30,000 have no common factor.
  for (let index = 0; index < 30_000; index += 1) ids.add(((index * 7919) % 30_000) * 3 + 1);
  for (let id = 0; id <= 90_000; id += 1) assert.equal(ids.has(id), id % 3 === 1, String(id));
  assert.equal(ids.count, 30_000);
  assert.equal(ids.has(90_001), false);
  ids.add(2 ** 53 - 1);
  ids.add(0);
  assert.deepEqual(
    [0, 1, 2, 2 ** 53 - 1, 2 ** 52].map((id) => ids.has(id)),
    [true, true, false, true, false],
  );
});
