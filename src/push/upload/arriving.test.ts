import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ArrivingFiles } from './arriving.ts';

/** Adds files named by owner and shop, such as "a1". @returns what came of each, and which were replaced */
function add(...names: string[]) {
  const arriving = new ArrivingFiles();
  const replaced: string[] = [];
  const refused = names.map((name) => {
    const arrival = { ownerId: name.slice(0, 1), replace: () => replaced.push(name) };
    return arriving.add(Number(name.slice(1)), arrival)?.kind ?? 'arriving';
  });
  return { refused, replaced };
}

test('a later file of a shop takes the place of the one that arrives, whoever sends it', () => {
  const { refused, replaced } = add('a1', 'a1', 'b1', 'b1');
  assert.deepEqual(refused, ['arriving', 'arriving', 'arriving', 'arriving']);
  assert.deepEqual(replaced, ['a1', 'a1', 'b1']);
});

test('an owner has two files arriving, in different shops, and others have room', () => {
  const { refused, replaced } = add('a1', 'a2', 'a3', 'a4', 'b5', 'a2', 'a3');
  assert.deepEqual(
    refused.join(' '),
    'arriving arriving ownersLimit ownersLimit arriving arriving ownersLimit',
  );
  assert.deepEqual(replaced, ['a2']);
});

test('of 16 places, 8 are kept for owners who have no file arriving', () => {
  const owners = [...'abcdefgh'];
  const full = [...'ijklmnop'];
  const first = owners.map((owner, index) => `${owner}${index}`);
  const second = owners.map((owner, index) => `${owner}${index + 100}`);
  const others = full.map((owner, index) => `${owner}${index + 200}`);
  const { refused, replaced } = add(...first, ...second, ...others, 'q300', 'a0', 'p207');
  assert.deepEqual(refused, [
    ...Array<string>(8).fill('arriving'),
    ...Array<string>(8).fill('serversLimit'),
    ...Array<string>(8).fill('arriving'),
    'serversLimit',
    'arriving',
    'arriving',
  ]);
  assert.deepEqual(replaced, ['a0', 'p207']);
});

test('a file that has ended makes room, but not for the one that took its place', () => {
  const arriving = new ArrivingFiles();
  const [first, second, third] = ['a', 'b', 'a'].map((ownerId) => ({ ownerId, replace() {} }));
  assert.ok(first && second && third);
  arriving.add(1, first);
  arriving.add(1, second);
  arriving.remove(1, first);
  for (const shop of [2, 3]) assert.equal(arriving.add(shop, { ...first }), undefined);
  // The shop's own is still there.
  let isReplaced = false;
  second.replace = () => void (isReplaced = true);
  assert.equal(arriving.add(1, { ownerId: 'c', replace() {} }), undefined);
  assert.ok(isReplaced);
  assert.deepEqual(arriving.add(4, third), { kind: 'ownersLimit' });
});
