import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { listOpenCases, summariseExpected } from '../../src/metrics/dunning/open-cases.ts';
import type { Store } from '../../src/store/open.ts';
import { plan, subscription } from '../rest/records.ts';
import { onOneDatabase } from '../support/databases.ts';
import { type TestShop, createShop, importAll, now } from '../support/world.ts';

const at = Date.parse(now);
const hour = 3_600_000;
const iso = (time: number) => new Date(time).toISOString();

let nextId = 1;

/** A subscription whose payments failed every so many hours, and what came of it. */
function troubled(parts: {
  readonly code: string | null;
  readonly attempts: number;
  /** From the first failure to the end, or to now. */
  readonly hours: number;
  readonly result?: 'recovered' | 'lost';
  readonly amount?: string;
}): object[] {
  const { code, attempts, hours, result, amount = '10.00' } = parts;
  const id = nextId++;
  const endedAt = result === undefined ? at : at - 24 * hour;
  const openedAt = endedAt - hours * hour;
  const payment = (index: number, status: string, time: number) => ({
    type: 'payment',
    id: id * 100 + index,
    subscriptionId: id,
    cycle: '1',
    status,
    ...(status === 'failed' && code !== null && { failureCode: code }),
    amount,
    processedAt: iso(time),
  });
  return [
    subscription(id, {
      customerId: id,
      createdAt: '2026-01-01T00:00:00Z',
      ...(result === 'lost' && {
        status: 'cancelled',
        statusEvents: [{ at: iso(endedAt), to: 'cancelled' }],
      }),
    }),
    ...Array.from({ length: attempts }, (_, index) =>
      payment(index, 'failed', openedAt + index * 60_000),
    ),
    ...(result === 'recovered' ? [payment(99, 'succeeded', endedAt)] : []),
  ];
}

const many = (count: number, parts: Parameters<typeof troubled>[0]) =>
  Array.from({ length: count }, () => troubled(parts)).flat();

onOneDatabase('the odds of open cases', (open) => {
  let store: Store;
  let shop: TestShop;
  before(() => {
    store = open();
  });
  after(() => store.close());

  const add = async (records: readonly object[]) => {
    shop = await createShop(store);
    assert.deepEqual((await importAll(store, shop, [plan(), ...records])).refused, []);
  };
  const list = () =>
    listOpenCases(store.primary.analyse, shop.id, {
      order: 'expected',
      code: undefined,
      at,
      now: at,
      after: undefined,
      limit: 100,
    });
  const odds = async () =>
    (await list()).map(({ amount, recovered, closed }) => [Number(amount), recovered, closed]);

  const sum = async () =>
    Number(await summariseExpected(store.primary.analyse, shop.id, { at, code: undefined }));

  test('are those of at least 50 cases that came as far, else of coarser groups', async () => {
    await add([
      // Of the code: 40 that ended at once, and 50 that had two attempts and were 4 days old, 20 of them recovered.
      ...many(40, { code: 'a', attempts: 1, hours: 2, result: 'recovered' }),
      ...many(20, { code: 'a', attempts: 2, hours: 96, result: 'recovered' }),
      ...many(30, { code: 'a', attempts: 2, hours: 96, result: 'lost' }),
      // Of another code, and of none.
      ...many(5, { code: 'b', attempts: 5, hours: 24 * 40, result: 'recovered' }),
      ...many(3, { code: null, attempts: 5, hours: 24 * 40, result: 'lost' }),
      ...troubled({ code: 'a', attempts: 1, hours: 1, amount: '1.00' }),
      ...troubled({ code: 'a', attempts: 2, hours: 95, amount: '2.00' }),
      ...troubled({ code: 'a', attempts: 1, hours: 72, amount: '3.00' }),
      ...troubled({ code: 'b', attempts: 1, hours: 1, amount: '4.00' }),
      ...troubled({ code: null, attempts: 2, hours: 80, amount: '5.00' }),
      ...troubled({ code: 'new', attempts: 7, hours: 80, amount: '6.00' }),
      ...troubled({ code: 'a', attempts: 2, hours: 24 * 20, amount: '7.00' }),
    ]);
    assert.deepEqual(
      new Map((await odds()).map(([amount, ...of]) => [amount, of])),
      new Map<number | undefined, (number | null | undefined)[]>([
        [1, [60, 90]],
        [2, [20, 50]],
        [3, [20, 50]],
        // Few have the code: of those with any.
        [4, [65, 98]],
        [5, [25, 58]],
        // Few had four attempts or more: of all as old.
        [6, [25, 58]],
        // Few were as old: of all.
        [7, [65, 98]],
      ]),
    );
  });

  test('are unknown as long as no case has closed, and then of the few that there are', async () => {
    await add([
      ...troubled({ code: 'a', attempts: 1, hours: 1, amount: '8.00' }),
      ...troubled({ code: 'a', attempts: 1, hours: 1, amount: '9.00' }),
    ]);
    assert.deepEqual(await odds(), [
      [9, null, null],
      [8, null, null],
    ]);
    assert.equal(await sum(), 0);
    const closed = [
      ...many(1, { code: 'b', attempts: 1, hours: 5, result: 'recovered' }),
      ...many(3, { code: 'b', attempts: 1, hours: 5, result: 'lost' }),
    ];
    assert.deepEqual((await importAll(store, shop, closed)).refused, []);
    assert.deepEqual(await odds(), [
      [9, 1, 4],
      [8, 1, 4],
    ]);
    assert.equal(await sum(), 4.25);
  });

  test('sort by what can be expected, in pages without a gap', async () => {
    await add([
      ...many(60, { code: 'good', attempts: 1, hours: 30, result: 'recovered' }),
      ...many(60, { code: 'bad', attempts: 1, hours: 30, result: 'lost' }),
      ...[5, 3, 8, 3].flatMap((amount) =>
        ['good', 'bad'].flatMap((code) =>
          troubled({ code, attempts: 1, hours: 2, amount: `${amount}.00` }),
        ),
      ),
    ]);
    const rows = await list();
    assert.deepEqual(
      rows.map(({ amount, expected }) => [Number(amount), Number(expected)]),
      [
        [8, 8],
        [5, 5],
        [3, 3],
        [3, 3],
        [8, 0],
        [5, 0],
        [3, 0],
        [3, 0],
      ],
    );
    assert.equal(await sum(), 8 + 5 + 3 + 3);
    const page = { code: undefined, at, now: at, limit: 3 };
    for (const [order, all] of [
      ['expected', [...rows]],
      ['unlikely', rows.toReversed()],
    ] as const) {
      const walked = [];
      for (let last = undefined as (typeof rows)[number] | undefined; ;) {
        const some = await listOpenCases(store.primary.analyse, shop.id, {
          ...page,
          order,
          after: last,
        });
        walked.push(...some);
        assert.ok(walked.length < 20, JSON.stringify(walked.slice(0, 7)));
        if (some.length < page.limit) break;
        last = some.at(-1);
      }
      assert.deepEqual(walked, all, order);
    }
  });
});
