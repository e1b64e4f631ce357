import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PrimaryPositions } from './freshness.ts';

const system = '7000000000000000001';

function positions(...answers: [position: number, at: number, system?: string][]) {
  const all = new PrimaryPositions();
  for (const [position, at, of = system] of answers) {
    all.add({ isInRecovery: false, position, system: of, database: 'd', membership: null }, at);
  }
  return all;
}

test('dates a position by the latest sample at or before it', () => {
  const all = positions([100, 10], [200, 20], [300, 30]);
  assert.deepEqual(
    [99, 100, 199, 200, 300, 1_000].map((position) => all.timeOf(position)),
    [undefined, 10, 10, 20, 30, 30],
  );
  assert.equal(all.latest?.at, 30);
});

test('uses the latest time while nothing is written', () => {
  const all = positions([100, 10], [200, 20], [200, 30], [200, 40]);
  assert.deepEqual(
    [150, 200].map((position) => all.timeOf(position)),
    [10, 40],
  );
});

test('drops later positions after the primary has gone back', () => {
  const all = positions([100, 10], [200, 20], [300, 30], [150, 40]);
  assert.deepEqual(
    [120, 150, 300].map((position) => all.timeOf(position)),
    [10, 40, 40],
  );
});

test('ignores positions of another cluster', () => {
  const all = positions([100, 10], [200, 20, 'other']);
  assert.deepEqual(
    [150, 200].map((position) => all.timeOf(position)),
    [undefined, 20],
  );
});

test('drops positions older than five minutes', () => {
  const all = positions([100, 0], [200, 200_000], [300, 300_001]);
  assert.deepEqual(
    [100, 200].map((position) => all.timeOf(position)),
    [undefined, 200_000],
  );
});
