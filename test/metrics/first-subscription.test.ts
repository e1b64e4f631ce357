import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { listCohortMembers } from '../../src/metrics/cohorts.ts';
import { type MovementValues, toMovements } from '../../src/metrics/movements.ts';
import { listMoved } from '../../src/metrics/moved.ts';
import { listCounted } from '../../src/metrics/segments/lists.ts';
import { type Figures, readFigures } from '../../src/metrics/segments/figures.ts';
import type { Store } from '../../src/store/open.ts';
import { line, plan, subscription } from '../rest/records.ts';
import { onOneDatabase } from '../support/databases.ts';
import { type TestShop, createShop, importAll, now } from '../support/world.ts';

const at = Date.parse;
const november = { from: at('2026-11-01T00:00:00Z'), until: at('2026-12-01T00:00:00Z') };
const firstPage = { after: undefined, limit: 100 };
const createdAt = '2026-11-05T10:00:00.000Z';

/** One of the customer's, which all began at the same instant. */
const ofCustomer = (id: number, price: string) =>
  subscription(id, { createdAt, lines: [{ ...line, quantity: 1, currentPrice: price }] });

onOneDatabase('of subscriptions that begin at one instant, the least id is the first', (open) => {
  let store: Store;
  before(() => {
    store = open();
  });
  after(() => store.close());

  /** Checks every figure that tells the first subscription of a customer from the others. */
  async function assertFirst(
    shop: TestShop,
    expected: { readonly first: number; readonly others: readonly number[] } & Pick<
      ReturnType<typeof toMovements>,
      'new' | 'added'
    >,
  ) {
    const selection = { segment: {}, now: at(now) };
    const period = { from: november.from, until: at(now) };
    for (const segment of [undefined, selection]) {
      const [values, row] = await readFigures(store.primary, shop, segment, (figures: Figures) =>
        Promise.all([figures.movements(period), figures.summary(period, at(now))]),
      );
      const movements = toMovements(values as MovementValues, 'USD');
      assert.deepEqual([movements.new, movements.added], [expected.new, expected.added]);
      assert.equal(row.newSubscribers, 1);
      const listed = await listCounted(
        store.primary,
        shop,
        { figure: 'new', ...period, at: at(now) },
        firstPage,
        segment,
      );
      assert.deepEqual(
        listed.map(({ json }) => JSON.parse(json).subscriptionId),
        [expected.first],
      );
    }
    const moved = await listMoved(store.primary.analyse, shop.id, period, firstPage);
    assert.deepEqual(
      moved.map(({ subscriptionId, movement }) => `${subscriptionId} ${movement}`),
      [...expected.others.map((id) => `${id} added`), `${expected.first} new`],
    );
    const month = { month: '2026-11', end: new Date(november.until).toISOString() };
    const only = { planId: undefined, keptAt: undefined, now: month.end };
    const members = await listCohortMembers(
      store.primary.analyse,
      shop.id,
      { ...month, ...only },
      firstPage,
    );
    assert.deepEqual(
      members.map(({ customerId, subscriptionId }) => [customerId, subscriptionId]),
      [[501, expected.first]],
    );
  }

  test('in whatever order they come and go', async () => {
    const shop = await createShop(store);
    await importAll(store, shop, [plan(), ofCustomer(1003, '40.00'), ofCustomer(1002, '20.00')]);
    await assertFirst(shop, { first: 1002, others: [1003], new: 20, added: 40 });
    await importAll(store, shop, [ofCustomer(1001, '10.00')]);
    await assertFirst(shop, { first: 1001, others: [1003, 1002], new: 10, added: 60 });
    await importAll(store, shop, [{ type: 'delete', record: 'subscription', id: 1001 }]);
    await assertFirst(shop, { first: 1002, others: [1003], new: 20, added: 40 });
  });
});
