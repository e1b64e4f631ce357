import assert from 'node:assert/strict';
import { test } from 'node:test';
import { heapMegabytes } from './heap.ts';

const gigabyte = 2 ** 30;
const share = (limitGigabytes: number, processes = 1, isEmbedded = false) =>
  heapMegabytes({
    limitBytes: limitGigabytes * gigabyte,
    totalBytes: 24 * gigabyte,
    processes,
    isEmbedded,
  });

test('without a limit Node.js chooses the heap size', () => {
  for (const limitBytes of [undefined, 0, 24 * gigabyte, 2 ** 64]) {
    for (const processes of [1, 4]) {
      const parts = { limitBytes, totalBytes: 24 * gigabyte, processes, isEmbedded: false };
      assert.equal(heapMegabytes(parts), undefined);
    }
  }
});

test('one process on PostgreSQL keeps the size that Node.js chooses, except in small containers', () => {
  assert.deepEqual(
    [0.5, 1, 4, 16].map((each) => share(each)),
    [undefined, undefined, undefined, undefined],
  );
  assert.equal(share(0.375), 192);
});

test('workers share the limit, less what their supervisor needs', () => {
  assert.deepEqual(
    [2, 4, 8].map((processes) => share(2, processes)),
    [496, 248, 128],
  );
  assert.equal(share(16, 2), 2048);
});

test('beside the embedded database, the heap gets half of the remaining memory', () => {
  assert.deepEqual(
    [0.5, 1, 2, 4, 8].map((each) => share(each, 1, true)),
    [128, 128, 640, 1664, 2048],
  );
});
