import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FixedClock } from '../../clock.ts';
import { LookupAllowance } from './secret-lookups.ts';

function start() {
  const clock = new FixedClock(0);
  return { clock, allowance: new LookupAllowance(clock) };
}

test('allows a client 100 unknown keys at once, then one every 10 ms', () => {
  const { clock, allowance } = start();
  for (let each = 0; each < 100; each += 1) {
    assert.ok(!allowance.isUsedUp('a'));
    allowance.charge('a');
  }
  assert.ok(allowance.isUsedUp('a'));
  assert.ok(!allowance.isUsedUp('b'));
  clock.advance(9.875);
  assert.ok(allowance.isUsedUp('a'));
  clock.advance(0.125);
  assert.ok(!allowance.isUsedUp('a'));
  allowance.charge('a');
  assert.ok(allowance.isUsedUp('a'));
});

test('forgets clients without debt on the next charge', () => {
  const { clock, allowance } = start();
  for (const client of ['a', 'b', 'c']) allowance.charge(client);
  assert.equal(allowance.size, 3);
  clock.advance(10);
  allowance.charge('d');
  assert.equal(allowance.size, 1);
});

test('remembers only the 10,000 most recently charged clients', () => {
  const { allowance } = start();
  for (let each = 0; each < 200; each += 1) allowance.charge('first');
  for (let each = 0; each < 9_999; each += 1) allowance.charge(`client ${each}`);
  assert.ok(allowance.isUsedUp('first'));
  allowance.charge('one more');
  assert.equal(allowance.size, 10_000);
  assert.ok(!allowance.isUsedUp('first'));
});
