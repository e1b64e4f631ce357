import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { findFigureDifferences } from '../../src/metrics/verify/figures.ts';
import { attemptsIn, amountOf, listClosed } from '../../src/metrics/recovery.ts';
import type { Store } from '../../src/store/open.ts';
import { plan, subscription } from '../rest/records.ts';
import { onOneDatabase } from '../support/databases.ts';
import { createShop, importAll, now } from '../support/world.ts';

const at = Date.parse(now);
const day = 86_400_000;

/** A subscription with a failed payment on each of the first days of November 2026. */
function troubled(id: number, failures: number, over: object = {}): object[] {
  return [
    subscription(id, over),
    ...Array.from({ length: failures }, (_, index) => payment(id, index + 1, 'failed')),
  ];
}

const payment = (subscriptionId: number, on: number, status: string) => ({
  type: 'payment',
  id: subscriptionId * 10 + on,
  subscriptionId,
  cycle: '1',
  status,
  amount: '1.00',
  processedAt: `2026-11-0${on}T00:00:00Z`,
});

const records = [
  plan(),
  // Paid at the 6th attempt, at the 4th, and never, after the 4th had failed.
  ...troubled(1001, 6),
  payment(1001, 9, 'succeeded'),
  ...troubled(1002, 4),
  payment(1002, 9, 'succeeded'),
  ...troubled(1003, 5, { status: 'cancelled', updatedAt: '2026-11-09T00:00:00Z' }),
  // Still open.
  ...troubled(1004, 5),
];

onOneDatabase('attempts to collect', (open) => {
  let store: Store;
  before(() => {
    store = open();
  });
  after(() => store.close());

  test('count one by one, those after the third together, and are verified', async () => {
    const shop = await createShop(store);
    assert.deepEqual((await importAll(store, shop, records)).refused, []);
    const closed = await listClosed(store.write, shop.id, { from: at - 30 * day, until: at });
    const counted = attemptsIn(closed).map((each) => [
      each.number,
      each.succeeded.count,
      each.failed.count,
      each.failedIn,
      amountOf(each.failed, 'USD'),
    ]);
    assert.deepEqual(counted, [
      [1, 0, 3, 3, 3],
      [2, 0, 3, 3, 3],
      [3, 0, 3, 3, 3],
      // The 4th and the 5th of the first case, and the 4th of the last.
      [4, 2, 3, 2, 3],
    ]);
    const figures = async () =>
      (await store.write.begin((tx) => findFigureDifferences(tx, shop, at))).map(
        ({ figure }) => figure,
      );
    assert.deepEqual(await figures(), []);
    await store.write`
      update dunning_cases set attempts = 5 where shop_id = ${shop.id} and subscription_id = 1001`;
    assert.ok((await figures()).includes('recovery attempt 4 failed'));
  });
});
