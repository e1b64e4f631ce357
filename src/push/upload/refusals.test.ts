import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RefusalList } from './refusals.ts';

test('reasons of refused lines are cut, grouped and kept up to a number', () => {
  const list = new RefusalList();
  list.add(7, 'x'.repeat(501));
  list.add(3, 'x'.repeat(500));
  for (let line = 10; line < 20_000; line += 1) list.add(line, `id ${line} is not known`);
  const { groups, lines } = list.all;
  assert.deepEqual(groups, [
    { reason: 'such as: id 10 is not known', count: 19_990, line: 10 },
    { reason: `${'x'.repeat(500)}…`, count: 1, line: 7 },
    { reason: 'x'.repeat(500), count: 1, line: 3 },
  ]);
  assert.equal(lines.length, 10_000);
  assert.deepEqual(lines[0], { line: 3, reason: 'x'.repeat(500) });
  assert.deepEqual(lines[1], { line: 7, reason: `${'x'.repeat(500)}…` });
});

test('rare reasons are counted together', () => {
  const list = new RefusalList();
  const name = (index: number) => `${String.fromCodePoint(97 + (index % 26))}${'b'.repeat(index)}`;
  for (let index = 0; index < 200; index += 1) list.add(index, name(index));
  const { groups } = list.all;
  assert.equal(groups.length, 101);
  assert.deepEqual(groups[0], { reason: 'other reasons', count: 100, line: 100 });
});

test('a reason that all lines of a group share is whole', () => {
  const list = new RefusalList();
  for (const line of [4, 3])
    list.add(line, 'payment 1: subscription 1001 is not known', `row ${line}`);
  assert.deepEqual(list.all.groups, [
    { reason: 'payment 1: subscription 1001 is not known', count: 2, line: 3, record: 'row 3' },
  ]);
});
