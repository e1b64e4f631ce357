import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Place, type Standing, TooBusy } from './passwords.ts';

const placesOf = (places: DisposableStack, standing: Standing, count: number) =>
  Array.from({ length: count }, () => places.use(new Place(standing)));

test('has 22 places for strangers, and as many others for known senders', () => {
  const places = new DisposableStack();
  placesOf(places, 'stranger', 22);
  assert.throws(() => new Place('stranger'), TooBusy);
  placesOf(places, 'known', 22);
  assert.throws(() => new Place('known'), TooBusy);
  places.dispose();
  using again = new DisposableStack();
  placesOf(again, 'stranger', 22);
  placesOf(again, 'known', 22);
});

test('computes two at a time, known senders first', async () => {
  using places = new DisposableStack();
  const begun: string[] = [];
  const work = new Map<string, PromiseWithResolvers<void>>();
  const compute = (name: string, standing: Standing) => {
    const [place] = placesOf(places, standing, 1);
    const ending = Promise.withResolvers<void>();
    work.set(name, ending);
    return place?.compute(() => {
      begun.push(name);
      return ending.promise;
    });
  };
  const results = [
    ...['a', 'b', 'c', 'd'].map((name) => compute(name, 'stranger')),
    ...['k', 'l'].map((name) => compute(name, 'known')),
  ];
  assert.deepEqual(begun, ['a', 'b']);
  const end = async (name: string, next: string[]) => {
    work.get(name)?.resolve();
    await results[['a', 'b', 'c', 'd', 'k', 'l'].indexOf(name)];
    assert.deepEqual(begun.slice(-next.length), next);
  };
  await end('b', ['k']);
  await end('k', ['l']);
  await end('a', ['c']);
  await end('l', ['d']);
  for (const name of ['c', 'd']) work.get(name)?.resolve();
  await Promise.all(results);
  assert.deepEqual(begun, ['a', 'b', 'k', 'l', 'c', 'd']);
});
