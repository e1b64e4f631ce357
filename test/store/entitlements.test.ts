import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import * as fc from 'fast-check';
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
  const refuseNode = (refuse: (error: Error) => void) =>
    refuse(Object.assign(new Error('could not connect to node'), { code: '08006' }));

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
      requests.map(({ shopId, customerId }) => entitlements.of(shopId, customerId, Date.now())),
    );
    assert.deepEqual(
      found.map((rows) => rows.map((row) => row.subscriptionId)),
      requests.map(({ customerId, offset }) => idsOf(customerId, offset)),
    );
    assert.equal(seen.statements, 5, '120 look-ups, 24 in each');
  });

  test('shares a statement within a turn, and only then', async () => {
    const { seen, entitlements } = counted();
    const [shopId = 0] = shopIds;
    const [first, second] = await Promise.all([
      entitlements.of(shopId, 501, Date.now()),
      entitlements.of(shopId, 501, Date.now()),
    ]);
    assert.equal(seen.statements, 1);
    assert.deepEqual([first.length, second.length], [1, 1]);
    await entitlements.of(shopId, 501, Date.now());
    assert.equal(seen.statements, 2);
  });

  test('returns nothing for an unknown customer beside known ones', async () => {
    const { entitlements } = counted();
    const [shopId = 0] = shopIds;
    const [unknown, known] = await Promise.all([
      entitlements.of(shopId, 9, Date.now()),
      entitlements.of(shopId, 503, Date.now()),
    ]);
    assert.deepEqual(unknown, []);
    assert.equal(known.length, 3);
  });

  test('a failure fails only the requests that shared the statement', async () => {
    const { seen, entitlements } = counted();
    const [shopId = 0] = shopIds;
    seen.isLost = true;
    const results = await Promise.allSettled(
      [501, 502].map((id) => entitlements.of(shopId, id, Date.now())),
    );
    assert.deepEqual(
      results.map((result) => result.status),
      ['rejected', 'rejected'],
    );
    seen.isLost = false;
    assert.equal((await entitlements.of(shopId, 501, Date.now())).length, 1);
  });

  test('never mixes shops that have the same customers, whatever shares a statement or fails', async () => {
    const many: number[] = [];
    for (let index = 0; index < 100; index += 1) {
      const shop = await createShop(store);
      many.push(shop.id);
      const records = [1, 2, 3, 4, 5].map((customerId) =>
        subscription(1000 * index + customerId, { customerId, planId: 1 + index }),
      );
      await importAll(store, shop, [plan({ id: 1 + index, name: `Plan of ${index}` }), ...records]);
    }
    const request = fc.record({
      shop: fc.nat(99),
      // The last is unknown.
      customerId: fc.integer({ min: 1, max: 6 }),
      turns: fc.nat(3),
    });
    const requests = fc.array(request, { minLength: 1, maxLength: 150 });
    /** Cannot be read, as if its node of a cluster had failed. */
    const failedShop = fc.option(fc.nat(99), { nil: undefined });
    /** Which statements lose their connection. */
    const lost = fc.uniqueArray(fc.nat(8), { maxLength: 2 });
    await fc.assert(
      fc.asyncProperty(requests, failedShop, lost, async (asked, failed, losing) => {
        let statements = 0;
        const sql = new Proxy(store.primary.keys, {
          apply(target, self, args) {
            const query = Reflect.apply(target, self, args);
            const isFailing = query.parameters.some((each: string) =>
              each.match(/\d+/g)?.includes(String(many[failed ?? -1])),
            );
            if (losing.includes((statements += 1)))
              query.run = (_: never, lose: never) => fail(lose);
            else if (isFailing) query.run = (_: never, refuse: never) => refuseNode(refuse);
            return query;
          },
        });
        const entitlements = new Entitlements(sql);
        const results = await Promise.allSettled(
          asked.map(async ({ shop, customerId, turns }) => {
            for (let left = turns; left > 0; left -= 1) await turn();
            return entitlements.of(many[shop] as number, customerId, Date.now());
          }),
        );
        for (const [index, result] of results.entries()) {
          const { shop, customerId } = asked[index] as (typeof asked)[number];
          if (result.status === 'rejected') {
            const isOfNode = result.reason.code === '08006';
            assert.ok(isOfNode ? shop === failed : losing.length > 0);
            continue;
          }
          assert.notEqual(shop, failed);
          const found = result.value.map((row) => [row.subscriptionId, row.planId, row.planName]);
          const own = [1000 * shop + customerId, 1 + shop, `Plan of ${shop}`];
          assert.deepEqual(found, customerId === 6 ? [] : [own]);
        }
      }),
      { numRuns: 60 },
    );
  });
});
