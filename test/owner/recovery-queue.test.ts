import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { line, plan, subscription } from '../rest/records.ts';
import { onOneDatabase } from '../support/databases.ts';
import { type World, importAll, startWorld } from '../support/world.ts';
import { plain, rowsOf } from './page-text.ts';
import { type Visitor, signedInOwner } from './visitor.ts';

const minute = 60_000;
const hour = 60 * minute;

/** A subscription whose payment failed. */
const failed = (id: number, amount: string, at: string, over: object = {}) => [
  subscription(id, {
    createdAt: '2026-09-01T00:00:00Z',
    lines: [{ ...line, quantity: 1, currentPrice: amount }],
    ...over,
  }),
  {
    type: 'payment',
    id,
    subscriptionId: id,
    cycle: '1',
    status: 'failed',
    amount,
    processedAt: at,
  },
];
const each = (count: number, records: (index: number) => object[]) =>
  Array.from({ length: count }, (_, index) => records(index + 1)).flat();

/** 60 outstanding payments, whose odds fall from a half to nothing at 12:01, when they are a day old. */
const records = [
  plan(),
  ...each(60, (index) => failed(index, `${index}.00`, '2026-11-19T12:01:00Z')),
  ...each(50, (index) => [
    ...failed(1000 + index, '10.00', '2026-11-01T10:00:00Z'),
    {
      type: 'payment',
      id: 2000 + index,
      subscriptionId: 1000 + index,
      cycle: '1',
      status: 'succeeded',
      amount: '10.00',
      processedAt: '2026-11-01T12:00:00Z',
    },
  ]),
  ...each(50, (index) =>
    failed(3000 + index, '10.00', '2026-11-01T10:00:00Z', {
      status: 'cancelled',
      statusEvents: [{ at: '2026-11-03T12:00:00Z', to: 'cancelled' }],
    }),
  ),
];

onOneDatabase('the queue of outstanding payments', (open) => {
  let world: World;
  let visitor: Visitor;
  let first: string;
  before(async () => {
    world = await startWorld(open());
    assert.deepEqual((await importAll(world.store, world.shop, records)).refused, []);
    ({ visitor } = await signedInOwner(world));
    first = `/app/shops/${world.shop.id}/recovery/open`;
  });
  after(() => world.close());

  const see = async (path: string, status = 200) => {
    const page = await visitor.get(path);
    assert.equal(page.status, status, path);
    return page.text;
  };
  const nextOf = (page: string) =>
    /href="([^"]+)"\s+rel="next"/.exec(page)?.[1]?.replaceAll('&amp;', '&') ?? 'none';
  const idsOf = (page: string) => rowsOf(page).map(([id]) => Number(id));
  const from = (high: number, low: number) =>
    Array.from({ length: high - low + 1 }, (_, index) => high - index);

  test('goes on in the order of its first page when odds have changed', async () => {
    const page = await see(first);
    assert.deepEqual(idsOf(page), from(60, 11));
    const next = nextOf(page);
    world.clock.advance(2 * minute);
    assert.deepEqual(idsOf(await see(next)), from(10, 1));
    // A payment that came meanwhile is not on it.
    const paid = { type: 'payment', id: 9000, subscriptionId: 5, cycle: '1', status: 'succeeded' };
    const processedAt = '2026-11-20T12:02:00Z';
    const { refused } = await importAll(world.store, world.shop, [
      { ...paid, amount: '5.00', processedAt },
    ]);
    assert.deepEqual(refused, []);
    assert.deepEqual(idsOf(await see(next)), from(10, 1));
    // By age, all pages are of now.
    const oldest = await see(nextOf(await see(`${first}?order=newest`)));
    assert.deepEqual(
      idsOf(oldest),
      from(10, 1).filter((id) => id !== 5),
    );
  });

  test('begins again after a day, and continues none that is yet to come', async () => {
    const next = nextOf(await see(first));
    world.clock.advance(-1);
    assert.match(plain(await see(next, 400)), /This address continues another list/);
    world.clock.advance(23 * hour);
    await see(next);
    world.clock.advance(2 * hour);
    assert.match(plain(await see(next, 400)), /This list is of more than a day ago\./);
  });
});
