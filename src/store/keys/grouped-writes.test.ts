import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GroupedWrites } from './grouped-writes.ts';

test('what waits is written together, at most 250 at once', async () => {
  const groups: (readonly number[])[] = [];
  const writes = new GroupedWrites<number>(async (items) => void groups.push(items));
  const numbers = Array.from({ length: 600 }, (_, place) => place);
  await Promise.all(numbers.map((each) => writes.add(each)));
  assert.deepEqual(
    groups.map(({ length }) => length),
    [250, 250, 100],
  );
  assert.deepEqual(groups.flat(), numbers);
  await writes.add(600);
  assert.deepEqual(groups.at(-1), [600]);
});

/** Each number that is written, but 3, which is refused. */
async function writtenBy(code: string) {
  const stored: number[] = [];
  let calls = 0;
  const writes = new GroupedWrites<number>(async (items) => {
    calls += 1;
    if (items.includes(3)) throw Object.assign(new Error('refused'), { code });
    stored.push(...items);
  });
  const results = await Promise.allSettled([1, 2, 3, 4].map((each) => writes.add(each)));
  return { stored, calls, statuses: results.map(({ status }) => status) };
}

test('what the server refuses does not keep the others from being written', async () => {
  assert.deepEqual(await writtenBy('22012'), {
    stored: [1, 2, 4],
    calls: 5,
    statuses: ['fulfilled', 'fulfilled', 'rejected', 'fulfilled'],
  });
});

test('after a lost connection nothing is written again: some of it may be stored', async () => {
  assert.deepEqual(await writtenBy('ECONNRESET'), {
    stored: [],
    calls: 1,
    statuses: ['rejected', 'rejected', 'rejected', 'rejected'],
  });
});
