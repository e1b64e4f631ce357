import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { FixedClock } from '../../src/clock.ts';
import { getMetricsSummary } from '../../src/operations/get-metrics-summary.ts';
import type { Store } from '../../src/store/open.ts';
import { plan, session, subscription } from './records.ts';
import { onOneDatabase } from '../support/databases.ts';
import {
  type TestShop,
  createShop,
  createTestKey,
  get,
  importAll,
  now,
  startTestService,
} from '../support/world.ts';

onOneDatabase('answers that several requests share', (open) => {
  let store: Store;
  let shops: TestShop[];
  before(async () => {
    store = open();
    shops = [await createShop(store), await createShop(store)];
    for (const shop of shops) await importAll(store, shop, [plan(), subscription(1)]);
  });
  after(() => store.close());

  /** Asks over connections that count the statements, and can hold back the rows of the first. */
  function asker(held: Promise<void> = Promise.resolve()) {
    const clock = new FixedClock(now);
    const seen = { statements: 0 };
    const analyse = new Proxy(store.primary.analyse, {
      apply(target, self, parts) {
        const query = Reflect.apply(target, self, parts);
        const run = query.run.bind(query);
        query.run = (resolve: (rows: unknown) => void, reject: never) => {
          seen.statements += 1;
          const isFirst = seen.statements === 1;
          run(
            (rows: unknown) => (isFirst ? held.then(() => resolve(rows)) : resolve(rows)),
            reject,
          );
        };
        return query;
      },
    });
    const ask = async ({ id: shopId, currency }: TestShop) => {
      const caller = { shopId, currency, scopes: [] };
      const answer = await getMetricsSummary.run(
        { caller, store: { ...store.primary, analyse }, clock },
        {},
      );
      const { summary } = JSON.parse((answer as { text: string }).text);
      return { generatedAt: summary.generatedAt, subscribers: summary.activeSubscribers };
    };
    return { clock, seen, ask };
  }

  test('are summaries of an instant after the request, and of what was stored by then', async () => {
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    const { clock, seen, ask } = asker(held);
    const [shop] = shops as [TestShop];
    const first = ask(shop);
    await importAll(store, shop, [subscription(2, { customerId: 502 })]);
    clock.advance(5);
    const others = [ask(shop), ask(shop), ask(shop)];
    clock.advance(5);
    release();
    assert.equal((await first).generatedAt, '2026-11-20T12:00:00.000Z');
    for (const answer of await Promise.all(others)) {
      assert.deepEqual(answer, { generatedAt: '2026-11-20T12:00:00.010Z', subscribers: 2 });
    }
    assert.equal(seen.statements, 2);
  });

  test('are the next summary while one of their shop is computed', async () => {
    const { seen, ask } = asker();
    const [shop, other] = shops as [TestShop, TestShop];
    const [, , , of] = await Promise.all([ask(shop), ask(shop), ask(shop), ask(other), ask(shop)]);
    assert.equal(of.subscribers, 1);
    assert.equal(seen.statements, 3, 'the first, the next of the same shop, and that of the other');
  });

  test('belong to their own shop, filter, place and size, and are never older than the request', async (t) => {
    const service = await startTestService(store);
    t.after(() => service.close());
    const base = `${service.baseUrl}/api/external/v1`;
    const paths = [
      '/plans',
      '/subscriptions',
      '/subscriptions?limit=3',
      '/subscriptions?status=paused',
      '/subscriptions?limit=3&cursor=',
      '/cancellations?limit=2',
      '/cancellations?outcome=saved',
    ];
    /** All shops have the same ids; each says in all that it has whose it is, and of which import. */
    const worlds = await Promise.all(
      [0, 1, 2].map(async (which) => {
        const shop = await createShop(store);
        const { key } = await createTestKey(store, shop.id);
        const records = [1, 2, 3, 4, 5, 6, 7].flatMap((id) => [
          subscription(id, { customerId: 10 * which + 1, status: id % 2 ? 'active' : 'paused' }),
          session(id, { outcome: id % 2 ? 'saved' : null, offerType: offers[which] }),
        ]);
        await importAll(store, shop, [plan({ name: `${which} 0` }), ...records]);
        const { body } = await get(`${base}/subscriptions?limit=3`, key);
        return { which, shop, key, cursor: body.nextCursor as string, stored: 0 };
      }),
    );
    type World = (typeof worlds)[number];
    const ask = async ({ key, cursor }: World, path: string) =>
      (await get(`${base}${path.replace('cursor=', `cursor=${cursor}`)}`, key)).body;
    /** An answer without the number of the import. */
    const bare = (answer: unknown) => JSON.stringify(answer).replaceAll(/"(\d) \d+"/g, '"$1"');
    const alone = new Map<string, string>();
    for (const world of worlds) {
      for (const path of paths) alone.set(`${world.which}${path}`, bare(await ask(world, path)));
    }
    assert.equal(new Set(alone.values()).size, alone.size);

    const writers = { areDone: false };
    const reading = worlds.flatMap((world) =>
      [...paths, ...paths].map(async (path) => {
        while (!writers.areDone) {
          const { stored } = world;
          const answer = await ask(world, path);
          assert.equal(bare(answer), alone.get(`${world.which}${path}`));
          for (const [, seen] of JSON.stringify(answer).matchAll(/"\d (\d+)"/g)) {
            assert.ok(
              Number(seen) >= stored,
              `${path}: ${seen} was read after ${stored} was stored`,
            );
          }
        }
      }),
    );
    const writing = worlds.map(async (world) => {
      for (let count = 1; count <= 25; count += 1) {
        const updatedAt = new Date(Date.parse(now) - 1_000 + count).toISOString();
        await importAll(store, world.shop, [plan({ name: `${world.which} ${count}`, updatedAt })]);
        world.stored = count;
      }
    });
    await Promise.all(writing).finally(() => {
      writers.areDone = true;
    });
    await Promise.all(reading);
  });
});

const offers = ['offer_discount', 'pause', 'swap'] as const;
