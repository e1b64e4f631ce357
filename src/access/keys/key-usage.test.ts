import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FixedClock } from '../../clock.ts';
import { createLog } from '../../log/log.ts';
import { KeyUsage, type UsedKey } from './key-usage.ts';

const start = Date.parse('2026-11-20T12:00:00.000Z');
/** The hour that starts then, counted from 1970. */
const noon = 498_660;
const minute = 60_000;

const keyOf = (keyId: string): UsedKey => ({ shopId: 1, keyId });

type Stored = [keyId: string, at: number, ...requests: [hour: number, requests: number][]];

/** Records each write: the key, its last use in milliseconds after the start, and its requests by hour. */
function begin(store: () => Promise<unknown> = async () => {}) {
  const clock = new FixedClock(start);
  const written: Stored[] = [];
  const logged: string[] = [];
  const log = createLog('warn', { write: (line) => void logged.push(line) });
  const usage = new KeyUsage(clock, log, ({ keyId }, at, counts) => {
    written.push([
      keyId,
      at - start,
      ...counts.map(({ hour, requests }): [number, number] => [hour, requests]),
    ]);
    return store();
  });
  /** Notes a successful request. */
  const note = (key: UsedKey) => usage.note(key, 'list_plans', 200);
  return { clock, usage, note, written, logged };
}

/** Waits for writes that complete immediately. */
const writesSettled = () => new Promise(setImmediate);

test('writes a constantly used key once a minute, with all its requests', async () => {
  const { clock, usage, written, note } = begin();
  for (let second = 0; second <= 120; second += 1) {
    note(keyOf('key_1'));
    usage.flush();
    await writesSettled();
    clock.advance(1000);
  }
  assert.deepEqual(written, [
    ['key_1', 0, [noon, 1]],
    ['key_1', minute, [noon, 60]],
    ['key_1', 2 * minute, [noon, 60]],
  ]);
});

test('each key has its own interval', async () => {
  const { clock, written, note } = begin();
  note(keyOf('key_1'));
  clock.advance(30_000);
  note(keyOf('key_2'));
  await writesSettled();
  clock.advance(30_000);
  note(keyOf('key_1'));
  note(keyOf('key_2'));
  assert.deepEqual(written, [
    ['key_1', 0, [noon, 1]],
    ['key_2', 30_000, [noon, 1]],
    ['key_1', minute, [noon, 1]],
  ]);
});

test('distinguishes keys of two shops with the same id', async () => {
  const { usage, written, clock, note } = begin();
  const other = { ...keyOf('key_1'), shopId: 2 };
  note(keyOf('key_1'));
  clock.advance(1000);
  note(other);
  note(other);
  assert.deepEqual(written, [
    ['key_1', 0, [noon, 1]],
    ['key_1', 1000, [noon, 1]],
  ]);
  assert.deepEqual(
    [usage.lastUsedAt(1, 'key_1'), usage.lastUsedAt(2, 'key_1'), usage.lastUsedAt(3, 'key_1')],
    [start, start + 1000, undefined],
  );
});

test('still writes if the clock goes back', async () => {
  const { clock, usage, written, note } = begin();
  note(keyOf('key_1'));
  await usage.settle();
  clock.advance(-60 * minute);
  note(keyOf('key_1'));
  assert.deepEqual(written, [
    ['key_1', 0, [noon, 1]],
    ['key_1', -60 * minute, [noon - 1, 1]],
  ]);
});

test('counts requests in the hour of their arrival', async () => {
  const { clock, usage, written, note } = begin();
  note(keyOf('key_1'));
  await usage.settle();
  clock.advance(60 * minute - 1);
  note(keyOf('key_1'));
  await usage.settle();
  clock.advance(1);
  note(keyOf('key_1'));
  note(keyOf('key_1'));
  clock.advance(minute);
  usage.flush();
  assert.deepEqual(written, [
    ['key_1', 0, [noon, 1]],
    ['key_1', 60 * minute - 1, [noon, 1]],
    ['key_1', 60 * minute, [noon + 1, 2]],
  ]);
});

test('writes an unused key once more, then forgets it', async () => {
  const { clock, usage, written, note } = begin();
  note(keyOf('key_1'));
  await usage.settle();
  clock.advance(10_000);
  note(keyOf('key_1'));
  clock.advance(49_999);
  usage.flush();
  assert.equal(written.length, 1);
  clock.advance(1);
  usage.flush();
  assert.deepEqual(written.slice(1), [['key_1', 10_000, [noon, 1]]]);
  await usage.settle();
  clock.advance(minute - 1);
  usage.flush();
  assert.equal(usage.lastUsedAt(1, 'key_1'), start + 10_000);
  clock.advance(1);
  usage.flush();
  assert.equal(usage.lastUsedAt(1, 'key_1'), undefined);
  assert.equal(written.length, 2);
});

test('counts a key that was forgotten, with the record it had before', async () => {
  const { clock, usage, written, note } = begin();
  const key = keyOf('key_1');
  note(key);
  await usage.settle();
  clock.advance(minute);
  usage.flush();
  assert.equal(usage.lastUsedAt(1, 'key_1'), undefined);
  note(key);
  note(key);
  assert.equal(usage.lastUsedAt(1, 'key_1'), start + minute);
  await usage.settle();
  assert.deepEqual(written, [
    ['key_1', 0, [noon, 1]],
    ['key_1', minute, [noon, 1]],
    ['key_1', minute, [noon, 1]],
  ]);
});

test('counts together what came with two records of a key', async () => {
  const { clock, usage, written, note } = begin();
  const records = [keyOf('key_1'), keyOf('key_1')];
  for (const record of records) note(record);
  await writesSettled();
  clock.advance(minute - 1);
  for (const record of records) note(record);
  await usage.settle();
  assert.deepEqual(written, [
    ['key_1', 0, [noon, 1]],
    ['key_1', minute - 1, [noon, 3]],
  ]);
});

test('writes many unused keys in batches', async () => {
  const { clock, usage, written, note } = begin();
  for (let use = 0; use < 2; use += 1) {
    for (let each = 0; each < 600; each += 1) note(keyOf(`key_${each}`));
  }
  await writesSettled();
  clock.advance(minute);
  for (const count of [850, 1100, 1200, 1200]) {
    usage.flush();
    assert.equal(written.length, count);
  }
  assert.equal(new Set(written.map(([keyId]) => keyId)).size, 600);
});

test('a failed write is logged without the key, affects no request and loses no counts', async () => {
  let isDown = true;
  const { clock, usage, written, logged, note } = begin(async () => {
    if (isDown) throw new Error('no database');
  });
  note(keyOf('key_1'));
  // The write fails a moment later; meanwhile requests wait for the next write.
  note(keyOf('key_1'));
  await writesSettled();
  assert.deepEqual(written, [['key_1', 0, [noon, 1]]]);
  assert.equal(logged.length, 1);
  const line = JSON.parse(logged[0] ?? '');
  assert.equal(line.level, 'warn');
  assert.equal(line.msg, 'could not store key usage, will retry');
  assert.equal(line.err.message, 'no database');

  clock.advance(minute);
  usage.flush();
  await writesSettled();
  isDown = false;
  clock.advance(59 * minute);
  note(keyOf('key_1'));
  assert.deepEqual(written.slice(1), [
    ['key_1', 0, [noon, 2]],
    ['key_1', 60 * minute, [noon, 2], [noon + 1, 1]],
  ]);
  await usage.settle();
  assert.equal(written.length, 3);
});

test('failed writes of many keys are logged once a minute', async () => {
  const { clock, usage, logged, note } = begin(async () => {
    throw new Error('no database');
  });
  const useAll = async () => {
    for (let each = 0; each < 50; each += 1) note(keyOf(`key_${each}`));
    await writesSettled();
  };
  await useAll();
  clock.advance(minute - 1);
  await usage.settle();
  assert.equal(logged.length, 1);
  clock.advance(1);
  await usage.settle();
  assert.equal(logged.length, 2);
});

test('discards counts that could not be stored for two days', async () => {
  let isDown = true;
  const { clock, usage, written, note } = begin(async () => {
    if (isDown) throw new Error('no database');
  });
  for (let hour = 0; hour < 100; hour += 1) {
    note(keyOf('key_1'));
    await writesSettled();
    clock.advance(60 * minute);
  }
  isDown = false;
  await usage.settle();
  const [, , ...requests] = written.at(-1) as Stored;
  assert.deepEqual(
    requests.map(([hour, count]) => [hour - noon, count]).toSorted(([a = 0], [b = 0]) => a - b),
    Array.from({ length: 49 }, (_, place) => [51 + place, 1]),
  );
});

test('settle waits for pending writes, then writes newer requests', async () => {
  const writes: PromiseWithResolvers<void>[] = [];
  const { usage, written, note } = begin(() => {
    const write = Promise.withResolvers<void>();
    writes.push(write);
    return write.promise;
  });
  await usage.settle();

  note(keyOf('key_1'));
  note(keyOf('key_2'));
  note(keyOf('key_1'));
  let isSettled = false;
  const settled = usage.settle().then(() => (isSettled = true));
  writes[0]?.resolve();
  await writesSettled();
  assert.equal(written.length, 2);
  writes[1]?.resolve();
  await writesSettled();
  assert.deepEqual(written.slice(2), [['key_1', 0, [noon, 1]]]);
  assert.equal(isSettled, false);
  writes[2]?.resolve();
  await settled;
});

test('counts each operation and each answer apart', async () => {
  const stored: unknown[] = [];
  const usage = new KeyUsage(
    new FixedClock(start),
    createLog('silent'),
    async (_key, _at, counts) => stored.push(...counts),
  );
  const key = keyOf('key_1');
  usage.note(key, 'list_plans', 200);
  await usage.settle();
  stored.length = 0;
  for (const [operation, status] of [
    ['list_plans', 200],
    ['list_plans', 429],
    ['list_plans', 200],
    ['get_subscription', 404],
    ['message not read', 429],
  ] as const) {
    usage.note(key, operation, status);
  }
  await usage.settle();
  assert.deepEqual(stored, [
    { hour: noon, operation: 'list_plans', status: 200, requests: 2 },
    { hour: noon, operation: 'list_plans', status: 429, requests: 1 },
    { hour: noon, operation: 'get_subscription', status: 404, requests: 1 },
    { hour: noon, operation: 'message not read', status: 429, requests: 1 },
  ]);
});

test('counts requests with a key that is refused, but not as use of it', async () => {
  const { clock, usage, written } = begin();
  usage.note(keyOf('key_1'), 'list_plans', 401);
  clock.advance(1000);
  usage.note(keyOf('key_1'), 'list_plans', 401);
  await usage.settle();
  assert.deepEqual(written, [
    ['key_1', -start, [noon, 1]],
    ['key_1', -start, [noon, 1]],
  ]);
  assert.equal(usage.lastUsedAt(1, 'key_1'), 0);
});
