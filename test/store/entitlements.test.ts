import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Entitlements } from '../../src/store/records/entitlements.ts';
import type { Store } from '../../src/store/open.ts';
import { plan, subscription } from '../rest/records.ts';
import { onEveryDatabase } from '../support/databases.ts';
import { createShop, importAll } from '../support/world.ts';

const customers = Array.from({ length: 60 }, (_, index) => 501 + index);
/** Both shops have the same ids, and customers with one, two and three subscriptions. */
const idsOf = (customerId: number, offset: number) =>
  [1, 2, 3].slice(0, (customerId % 3) + 1).map((each) => offset + customerId * 10 + each);

onEveryDatabase('concurrent entitlement look-ups', (open) => {
  let store: Store;
  let shopIds: number[];

  before(async () => {
    store = open();
    shopIds = [];
    for (const offset of [0, 1]) {
      const shop = await createShop(store);
      shopIds.push(shop.id);
      const records = customers.flatMap((customerId) =>
        // Not ordered by id.
        idsOf(customerId, offset)
          .toReversed()
          .map((id) => subscription(id, { customerId })),
      );
      assert.deepEqual((await importAll(store, shop, [plan(), ...records])).refused, []);
    }
  });

  after(() => store.close());

  const fail = (lost: (error: Error) => void) => lost(new Error('lost'));

  /** Counts statements, and can lose the connection. */
  function counted() {
    const seen = { statements: 0, isLost: false };
    const sql = new Proxy(store.primary.keys, {
      apply(target, self, args) {
        seen.statements += 1;
        const query = Reflect.apply(target, self, args);
        if (seen.isLost) query.run = (_rows: never, lost: never) => fail(lost);
        return query;
      },
    });
    return { seen, entitlements: new Entitlements(sql) };
  }

  test('returns each customer’s own subscriptions, whatever shares the turn', async () => {
    const { seen, entitlements } = counted();
    const requests = customers.flatMap((customerId) =>
      shopIds.map((shopId, offset) => ({ shopId, customerId, offset })),
    );
    const found = await Promise.all(
      requests.map(({ shopId, customerId }) => entitlements.of(shopId, customerId)),
    );
    assert.deepEqual(
      found.map((rows) => rows.map((row) => row.subscriptionId)),
      requests.map(({ customerId, offset }) => idsOf(customerId, offset)),
    );
    assert.equal(seen.statements, 6, 'three for each shop: 24, 24 and 12 customers');
  });

  test('looks up a customer once per turn, however often requested', async () => {
    const { seen, entitlements } = counted();
    const [shopId = 0] = shopIds;
    const [first, second] = await Promise.all([
      entitlements.of(shopId, 501),
      entitlements.of(shopId, 501),
    ]);
    assert.equal(seen.statements, 1);
    assert.deepEqual(first, second);
    await entitlements.of(shopId, 501);
    assert.equal(seen.statements, 2);
  });

  test('returns nothing for an unknown customer beside known ones', async () => {
    const { entitlements } = counted();
    const [shopId = 0] = shopIds;
    const [unknown, known] = await Promise.all([
      entitlements.of(shopId, 9),
      entitlements.of(shopId, 503),
    ]);
    assert.deepEqual(unknown, []);
    assert.equal(known.length, 3);
  });

  test('a failure fails only the requests that shared the statement', async () => {
    const { seen, entitlements } = counted();
    const [shopId = 0] = shopIds;
    seen.isLost = true;
    const results = await Promise.allSettled([501, 502].map((id) => entitlements.of(shopId, id)));
    assert.deepEqual(
      results.map((result) => result.status),
      ['rejected', 'rejected'],
    );
    seen.isLost = false;
    assert.equal((await entitlements.of(shopId, 501)).length, 1);
  });
});
