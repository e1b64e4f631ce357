import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as endOfTurn } from 'node:timers/promises';
import { ShopTurns } from './shop-turns.ts';

/** Jobs that end when told to, by name; the first letter is their shop. */
function start(...names: string[]) {
  const turns = new ShopTurns();
  const begun: string[] = [];
  const ends = new Map<string, PromiseWithResolvers<string>>();
  const results = names.map((name) => {
    const end = Promise.withResolvers<string>();
    ends.set(name, end);
    return turns.run(name.codePointAt(0) ?? 0, () => {
      begun.push(name);
      return end.promise;
    });
  });
  return {
    begun,
    results,
    async end(name: string) {
      ends.get(name)?.resolve(name);
      await endOfTurn();
    },
    async fail(name: string) {
      ends.get(name)?.reject(new Error(name));
      await endOfTurn();
    },
  };
}

test('a shop has one job at a time, and does not hold up another', async () => {
  const { begun, end } = start('a1', 'a2', 'a3', 'b1', 'c1', 'b2');
  assert.deepEqual(begun, ['a1', 'b1']);
  // a1 is slow, and the others go on beside it.
  for (const name of ['b1', 'c1', 'b2']) await end(name);
  assert.deepEqual(begun, ['a1', 'b1', 'c1', 'b2']);
  await end('a1');
  await end('a2');
  assert.deepEqual(begun, ['a1', 'b1', 'c1', 'b2', 'a2', 'a3']);
});

test('shops take turns, however many jobs one of them has', async () => {
  const { begun, end } = start('a1', 'a2', 'a3', 'a4', 'b1', 'c1', 'd1');
  // b1 is slow, so that there is room for one.
  for (const name of ['a1', 'a2', 'c1', 'd1']) await end(name);
  assert.deepEqual(begun, ['a1', 'b1', 'a2', 'c1', 'd1', 'a3']);
});

test('a job that fails makes room, and its caller gets the error', async () => {
  const { begun, results, fail, end } = start('a1', 'b1', 'a2');
  results[0]?.catch(() => {});
  await fail('a1');
  assert.deepEqual(begun, ['a1', 'b1', 'a2']);
  await end('a2');
  await assert.rejects(results[0] as Promise<string>, { message: 'a1' });
  assert.equal(await results[2], 'a2');
});
