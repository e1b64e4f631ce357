import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { plan, session, subscription } from '../rest/records.ts';
import { openAnyStore, type World, get, importAll, startWorld } from '../support/world.ts';
import { faults, silence, startFaultyProxy } from './faulty-proxy.ts';
import { type Call, clients } from './live.ts';

/** Each operation, and the path and field at which the API has the same. */
const operations: readonly (readonly [...Call, path: string, field: string])[] = [
  ['getEntitlements', [501], {}, '/entitlements?customerId=501', 'subscriptions'],
  ['getSubscription', [1001], {}, '/subscriptions/1001', 'subscription'],
  ['getMetricsSummary', [], {}, '/metrics/summary', 'summary'],
  ['listPlans', [], {}, '/plans', 'plans'],
  [
    'listSubscriptions',
    [],
    { status: 'cancelled' },
    '/subscriptions?status=cancelled&limit=100',
    'subscriptions',
  ],
  ['listCancellations', [], { outcome: 'saved' }, '/cancellations?outcome=saved', 'cancellations'],
];

for (const { name, missing, open } of clients) {
  describe(name, { skip: missing }, () => {
    let world: World;
    before(async () => {
      world = await startWorld(openAnyStore());
      const { refused } = await importAll(world.store, world.shop, [
        plan(),
        ...Array.from({ length: 250 }, (_, index) => subscription(1001 + index)),
        subscription(2001, { customerId: 502, status: 'cancelled' }),
        session(7001, { outcome: 'saved', subscriptionId: 1001 }),
        session(7002),
      ]);
      assert.deepEqual(refused, []);
    });
    after(() => world.close());

    test('answers what the API answers', async (t) => {
      const { base, key, service } = world;
      const asker = open({ baseUrl: `${service.baseUrl}/`, key });
      t.after(() => asker.close());
      for (const [method, given, named, path, field] of operations) {
        const { body } = await get(base + path, key);
        assert.deepEqual(await asker.ask(method, given, named), { value: body[field] }, method);
      }
    });

    test('walks all pages of a list, each entry once', async (t) => {
      const asker = open({ baseUrl: world.service.baseUrl, key: world.key });
      t.after(() => asker.close());
      const { value } = await asker.ask('listSubscriptions', [], { status: 'active' });
      const ids = (value as { subscriptionId: number }[]).map((each) => each.subscriptionId);
      assert.deepEqual([ids.length, new Set(ids).size], [250, 250]);
    });

    test('says who is entitled, and what the service refuses', async (t) => {
      const { key, service } = world;
      const asker = open({ baseUrl: service.baseUrl, key });
      const stranger = open({ baseUrl: service.baseUrl, key: 'rtn_wrong' });
      t.after(() => [asker, stranger].forEach((each) => each.close()));
      assert.deepEqual(await asker.ask('entitled', [501], {}), { value: true });
      assert.deepEqual(await asker.ask('entitled', [501], { planIds: [11] }), { value: true });
      assert.deepEqual(await asker.ask('entitled', [501], { planIds: [12] }), { value: false });
      assert.deepEqual(await asker.ask('entitled', [502], {}), { value: false });
      for (const [call, error, status] of [
        [asker.ask('getSubscription', [404], {}), 'NotFoundError', 404],
        [asker.ask('listSubscriptions', [], { cursor: 'x' }), 'InvalidRequestError', 400],
        [stranger.ask('entitled', [501], {}), 'AuthenticationError', 401],
      ] as const) {
        const { message, ...answer } = await call;
        assert.deepEqual(answer, { error, status });
        assert.ok(message);
      }
    });

    test('answers rightly through a proxy that spoils answers, or says that it cannot', async (t) => {
      const { base, key, service } = world;
      const proxy = await startFaultyProxy(service.baseUrl);
      const options = { baseUrl: proxy.baseUrl, key, timeoutSeconds: 60 };
      const asker = open(options);
      const hasty = open({ ...options, maxRetries: 0 });
      const impatient = open({ ...options, maxRetries: 0, timeoutSeconds: 0.2 });
      t.after(async () => {
        [asker, hasty, impatient].forEach((each) => each.close());
        await proxy.close();
      });
      const kinds = Object.entries(faults);
      for (const [index, [method, given, named, path, field]] of operations.entries()) {
        const { body } = await get(base + path, key);
        // Two kinds after each other; all operations together meet all kinds.
        proxy.faults = [0, 1].map((next) => kinds[(index + next) % kinds.length]?.[1]);
        assert.deepEqual(await asker.ask(method, given, named), { value: body[field] }, method);
        assert.deepEqual(proxy.faults, []);
      }
      for (const [kind, fault] of kinds) {
        proxy.faults = [fault];
        const { error } = await hasty.ask('entitled', [501], {});
        assert.match(error ?? '', /^(UnavailableError|RateLimitError)$/, kind);
      }
      proxy.faults = [silence];
      const { error } = await impatient.ask('entitled', [501], {});
      assert.match(error ?? '', /^(Request)?TimeoutError$/);
      assert.deepEqual(await hasty.ask('entitled', [501], {}), { value: true });
    });
  });
}
