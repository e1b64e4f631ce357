import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type CustomerRow, type Risk, listCustomers } from '../../src/metrics/customers.ts';
import type { Store } from '../../src/store/open.ts';
import { plan, session, subscription } from '../rest/records.ts';
import { onOneDatabase } from '../support/databases.ts';
import { type TestShop, createShop, importAll, now } from '../support/world.ts';

const day = 86_400_000;
const at = Date.parse(now);
const past = (days: number) => new Date(at - days * day).toISOString();

onOneDatabase('customers at risk', (open) => {
  let store: Store;
  before(() => {
    store = open();
  });
  after(() => store.close());

  const list = (shop: TestShop, risk?: Risk, time = at) =>
    listCustomers(store.primary.analyse, shop.id, time, {
      order: 'highest',
      risk,
      after: undefined,
      limit: 10,
    });
  const ids = (rows: readonly CustomerRow[]) => rows.map(({ customerId }) => customerId);

  test('who have left are not at risk any more, only those with a live subscription', async () => {
    const shop = await createShop(store);
    const ended = (status: string) => ({ status, statusEvents: [{ at: past(3), to: status }] });
    const skip = (id: number, subscriptionId: number) =>
      session(id, {
        subscriptionId,
        outcome: 'saved',
        offerType: 'skip_next',
        createdAt: past(10 + id),
      });
    const held = (id: number, customerId: number, over: object = {}) =>
      subscription(id, { customerId, createdAt: past(100), ...over });
    const found = await importAll(store, shop, [
      plan(),
      held(1, 501, ended('cancelled')),
      held(2, 502, ended('paused')),
      held(3, 503, ended('cancelled')),
      held(4, 503),
      held(5, 504, { status: 'paused', statusEvents: [{ at: null, to: 'paused' }] }),
      held(6, 505, { status: 'cancelled', statusEvents: [{ at: null, to: 'cancelled' }] }),
      ...[1, 2, 3, 5, 6].flatMap((id) => [skip(id, id), skip(10 + id, id)]),
    ]);
    assert.deepEqual(found.refused, []);
    for (const risk of ['leaving', 'skipping'] as const) {
      const rows = await list(shop, risk);
      assert.deepEqual(ids(rows).toSorted(), [502, 503, 504], risk);
      assert.equal(rows[0]?.total, 3);
    }
    const marked = (await list(shop)).filter(({ risks }) => risks.leaving || risks.skipping);
    assert.deepEqual(ids(marked).toSorted(), [502, 503, 504]);
    // Before they left.
    assert.equal((await list(shop, 'leaving', at - 3 * day - 1)).length, 4);
  });
});
