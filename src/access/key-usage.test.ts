import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FixedClock } from '../clock.ts';
import { createLog } from '../log.ts';
import type { KeyRecord } from '../store/keys.ts';
import { KeyUsage } from './key-usage.ts';

const start = Date.parse('2026-11-20T12:00:00.000Z');

function keyNamed(keyId: string, lastUsedAt = 0): KeyRecord {
  return {
    shopId: 1,
    keyId,
    scopes: [],
    tier: 'growth',
    currency: 'USD',
    lastUsedAt,
    expiresAt: null,
  };
}

function begin(store: () => Promise<unknown> = async () => {}) {
  const clock = new FixedClock(start);
  const written: [string, number][] = [];
  const logged: string[] = [];
  const log = createLog('warn', { write: (line) => void logged.push(line) });
  const usage = new KeyUsage(clock, log, ({ keyId }, at) => {
    written.push([keyId, at - start]);
    return store();
  });
  return { clock, usage, written, logged };
}

test('a key that is used all the time is written once a minute', () => {
  const { clock, usage, written } = begin();
  for (let second = 0; second <= 120; second += 1) {
    usage.note(keyNamed('key_1'));
    clock.advance(1000);
  }
  assert.deepEqual(written, [
    ['key_1', 0],
    ['key_1', 60_000],
    ['key_1', 120_000],
  ]);
});

test('each key has a minute of its own', () => {
  const { clock, usage, written } = begin();
  usage.note(keyNamed('key_1'));
  clock.advance(30_000);
  usage.note(keyNamed('key_2'));
  clock.advance(30_000);
  usage.note(keyNamed('key_1'));
  usage.note(keyNamed('key_2'));
  assert.deepEqual(written, [
    ['key_1', 0],
    ['key_2', 30_000],
    ['key_1', 60_000],
  ]);
});

test('what another instance has written within the minute is enough', () => {
  const { usage, written } = begin();
  usage.note(keyNamed('key_1', start - 59_999));
  usage.note(keyNamed('key_2', start - 60_000));
  assert.deepEqual(written, [['key_2', 0]]);
});

test('a write that fails is logged without a key, and troubles no request', async () => {
  const { usage, written, logged } = begin(async () => {
    throw new Error('no database');
  });
  usage.note(keyNamed('key_1'));
  await usage.settle();
  assert.equal(written.length, 1);
  assert.equal(logged.length, 1);
  const line = JSON.parse(logged[0] ?? '');
  assert.equal(line.level, 'warn');
  assert.equal(line.msg, 'last use not stored');
  assert.equal(line.keyId, 'key_1');
  assert.equal(line.err.message, 'no database');
});

test('settling waits for every write under way', async () => {
  const writes: PromiseWithResolvers<void>[] = [];
  const { usage } = begin(() => {
    const write = Promise.withResolvers<void>();
    writes.push(write);
    return write.promise;
  });
  await usage.settle();

  usage.note(keyNamed('key_1'));
  usage.note(keyNamed('key_2'));
  let isSettled = false;
  const settled = usage.settle().then(() => (isSettled = true));
  writes[0]?.resolve();
  await new Promise(setImmediate);
  assert.equal(isSettled, false);
  writes[1]?.resolve();
  await settled;
});
