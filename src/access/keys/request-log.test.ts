import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FixedClock } from '../../clock.ts';
import { createLog } from '../../log/log.ts';
import type { LoggedRequest } from '../../store/keys/requests.ts';
import { RequestLog } from './request-log.ts';

const key = { shopId: 1, keyId: 'key_1' };

function start(store: (rows: readonly LoggedRequest[]) => Promise<unknown> = async () => {}) {
  const clock = new FixedClock('2026-11-20T12:00:00.000Z');
  const written: [shopId: number, rows: readonly LoggedRequest[]][] = [];
  const logged: string[] = [];
  const log = createLog('warn', { write: (line) => void logged.push(line) });
  const requests = new RequestLog(clock, log, (shopId, rows) => {
    written.push([shopId, rows]);
    return store(rows);
  });
  /** Notes a request whose id is a number, so that the test can tell them apart. */
  const note = (number: number, shopId = 1) =>
    requests.note(
      { ...key, shopId },
      {
        requestId: String(number),
        transport: 'rest',
        operation: 'list_plans',
        status: 200,
        milliseconds: 1.2345,
      },
    );
  const noteAll = (from: number, to: number, shopId = 1) => {
    for (let number = from; number <= to; number += 1) note(number, shopId);
  };
  /** Of each write: the shop, the first and last request, how many there are, and how many were dropped. */
  const writes = () =>
    written.map(([shopId, rows]) => [
      shopId,
      rows[0]?.requestId,
      rows.at(-1)?.requestId,
      rows.length,
      rows.map(({ dropped }) => dropped).filter((dropped) => dropped > 0),
    ]);
  return { clock, requests, note, noteAll, written, writes, logged };
}

test('writes what is known of a request, and nothing twice', async () => {
  const { clock, requests, note, written } = start();
  note(1);
  clock.advance(5);
  note(2);
  await requests.settle();
  await requests.settle();
  const row = {
    keyId: 'key_1',
    transport: 'rest',
    operation: 'list_plans',
    status: 200,
    microseconds: 1235,
    dropped: 0,
  };
  assert.deepEqual(written, [
    [
      1,
      [
        { ...row, requestId: '1', at: new Date('2026-11-20T12:00:00.000Z') },
        { ...row, requestId: '2', at: new Date('2026-11-20T12:00:00.005Z') },
      ],
    ],
  ]);
});

test('drops the oldest of a busy shop, says how many, and leaves other shops alone', async () => {
  const { requests, noteAll, writes } = start();
  noteAll(1, 3, 2);
  noteAll(1, 4_500);
  noteAll(4, 4, 2);
  await requests.settle();
  assert.deepEqual(writes(), [
    [2, '1', '4', 4, []],
    [1, '3501', '4500', 1_000, [3_500]],
  ]);
});

test('keeps 20,000 requests of all shops at most', async () => {
  const { requests, noteAll, writes } = start();
  for (let shopId = 1; shopId <= 30; shopId += 1) noteAll(1, 700, shopId);
  noteAll(701, 701, 1);
  await requests.settle();
  // The 29th shop kept its share. Two that had none took those of the two that had waited longest.
  assert.deepEqual(writes(), [
    ...Array.from({ length: 26 }, (_, place) => [place + 3, '1', '700', 700, []]),
    [29, '301', '700', 400, [300]],
    [30, '1', '700', 700, []],
    [1, '701', '701', 1, [700]],
  ]);
  noteAll(701, 701, 2);
  await requests.settle();
  assert.deepEqual(writes().at(-1), [2, '701', '701', 1, [700]]);
});

test('a failed write is logged, and its requests are in the next one', async () => {
  let isDown = true;
  const { requests, noteAll, writes, logged } = start(async () => {
    if (isDown) throw new Error('no database');
  });
  noteAll(1, 1_200);
  await requests.settle();
  noteAll(1_201, 1_300);
  isDown = false;
  await requests.settle();
  assert.deepEqual(writes(), [
    [1, '201', '1200', 1_000, [200]],
    [1, '301', '1300', 1_000, [300]],
  ]);
  const [line = ''] = logged;
  assert.equal(JSON.parse(line).msg, 'could not store the log of requests, will retry');
  assert.equal(logged.length, 1);
});

test('failed writes of many shops are logged once', async () => {
  const { requests, noteAll, logged } = start(async () => {
    throw new Error('no database');
  });
  for (const shopId of [1, 2, 3]) noteAll(1, 2, shopId);
  await requests.settle();
  assert.equal(logged.length, 1);
});

test('writes a shop on demand, while the others wait', async () => {
  const { requests, noteAll, writes } = start();
  noteAll(1, 2, 1);
  noteAll(1, 2, 2);
  await requests.write(2);
  await requests.write(3);
  assert.deepEqual(writes(), [[2, '1', '2', 2, []]]);
  await requests.settle();
  assert.deepEqual(writes().slice(1), [[1, '1', '2', 2, []]]);
});
