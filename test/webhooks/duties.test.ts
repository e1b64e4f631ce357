import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { after, before, test } from 'node:test';
import { systemClock } from '../../src/clock.ts';
import { createLog } from '../../src/log/log.ts';
import { listAllOfCustomer, anonymousCustomerId } from '../../src/store/records/customers.ts';
import { listDataRequests } from '../../src/platforms/shopify/store/shops.ts';
import { findLedgerDifferences } from '../../src/metrics/verify/sums.ts';
import type { Store } from '../../src/store/open.ts';
import { signedInOwner } from '../owner/visitor.ts';
import { createTestKey, get, importAll } from '../support/world.ts';
import { plan, subscription } from '../rest/records.ts';
import { onOwnDatabases } from '../support/own-databases.ts';
import { findEverywhere, listRows } from './search.ts';
import { putContract } from './source.ts';
import { deliverWebhook, startWebhookWorld, untilQuiet } from './world.ts';

const email = 'sam@example.com';
const phone = '+15555550100';

onOwnDatabases('privacy webhooks', (open) => {
  let store: Store;
  let world: Awaited<ReturnType<typeof startWebhookWorld>>;
  let said = '';
  before(async () => {
    store = open();
    const log = createLog('debug', { write: (line) => void (said += line) });
    world = await startWebhookWorld(store, { log });
  });
  after(async () => {
    await world.close();
    await store.close();
  });

  const requestBody = (customerId: number) => ({
    shop_id: 954889,
    shop_domain: world.domain,
    orders_requested: [70_003],
    customer: { id: customerId, email, phone },
    data_request: { id: 9999 },
  });
  const redactBody = (customerId: number) => ({
    shop_id: 954889,
    shop_domain: world.domain,
    customer: { id: customerId, email, phone },
    orders_to_redact: [70_003],
  });
  const send = async (topic: string, body: object) =>
    assert.equal((await world.send(topic, body)).status, 200);
  const customersOf = (shopId: number) => store.write`
    select subscription_id as id, customer_id as customer from subscriptions
    where shop_id = ${shopId} order by 1`;

  /** Adds two contracts of a customer and one of another, in both shops. */
  async function addContracts(customerId: number) {
    putContract(world.source, 1001, { customerId, paid: [2001] });
    putContract(world.source, 1002, { customerId, status: 'PAUSED' });
    putContract(world.source, 1003, { customerId: 500_004 });
    for (const { domain } of [world, world.other]) {
      for (const id of [1001, 1002, 1003]) {
        const { baseUrl } = world.service;
        const sent = await deliverWebhook(baseUrl, domain, 'subscription_contracts/create', { id });
        assert.equal(sent.status, 200);
      }
    }
    await untilQuiet(store);
  }

  test('customers/data_request stores only the customer and the time', async () => {
    const customerId = randomInt(1e9, 1e10);
    await addContracts(customerId);
    const event = { event: '11111111-0000-4000-a000-000000000013' };
    const begun = Date.now();
    for (let each = 0; each < 2; each += 1) {
      await world.send('customers/data_request', requestBody(customerId), event);
      await untilQuiet(store);
    }
    const [request, ...others] = await listDataRequests(store.write, world.shop.id);
    assert.deepEqual(others, []);
    assert.equal(request?.customerId, customerId);
    const receivedAt = request.receivedAt.getTime();
    assert.ok(begun <= receivedAt && receivedAt <= Date.now());

    const held = await listAllOfCustomer(store.write, world.shop.id, customerId);
    assert.deepEqual(JSON.parse(JSON.stringify(held)), [
      {
        id: 1001,
        planId: 301,
        status: 'active',
        statusSince: '2026-01-01T00:00:00+00:00',
        price: '10',
        nextBillingAt: '2026-12-01T00:00:00+00:00',
        paidThroughAt: '2026-12-01T00:00:00+00:00',
        trialEndsAt: null,
        pastValues: null,
        createdAt: '2026-01-01T00:00:00+00:00',
        updatedAt: '2026-11-01T00:00:00+00:00',
        lines: [
          {
            productId: 11,
            productTitle: 'Coffee',
            variantId: 12,
            variantTitle: '',
            quantity: 1,
            price: '10',
            intervalUnit: null,
            intervalCount: null,
          },
        ],
        statusEvents: [],
        payments: [
          {
            id: 2001,
            cycle: '2026-11-01',
            status: 'succeeded',
            amount: '10',
            processedAt: '2026-11-01T00:01:00+00:00',
            refunds: [],
          },
        ],
        cancellations: [],
        contacted: [],
      },
      {
        ...(held[1] as object),
        id: 1002,
        status: 'paused',
        payments: [],
      },
    ]);
    assert.deepEqual(await listAllOfCustomer(store.write, world.shop.id, 7), []);
  });

  test('customers/redact removes the customer id for good, and keeps the metrics', async () => {
    const customerId = randomInt(1e9, 1e10);
    await addContracts(customerId);
    await send('customers/data_request', requestBody(customerId));
    await untilQuiet(store);
    const tables = await findEverywhere(store, customerId);
    assert.ok(tables.includes('shopify.data_requests'));
    assert.ok(tables.filter((table) => table === 'public.subscriptions').length === 4);
    const { key } = await createTestKey(store, world.shop.id);
    const base = `${world.service.baseUrl}/api/external/v1`;
    const ask = async (path: string) => (await get(`${base}/${path}`, key)).body;
    const { summary } = await ask('metrics/summary');
    assert.deepEqual([summary.activeSubscribers, summary.pausedSubscribers], [2, 0]);

    await send('customers/redact', redactBody(customerId));
    await untilQuiet(store);
    // Only the other shop still has it.
    const left = await findEverywhere(store, customerId);
    const ofTheOther = ['customer_values', 'customers', 'subscriber_changes', 'subscriptions'];
    assert.deepEqual(
      [...new Set(left)],
      ofTheOther.map((table) => `public.${table}`),
    );
    assert.equal(left.length, tables.filter((table) => table.startsWith('public.')).length / 2);
    const redacted = [
      { id: 1001, customer: 7768202435470761 },
      { id: 1002, customer: 5091417644781473 },
      { id: 1003, customer: 500_004 },
    ];
    assert.deepEqual([...(await customersOf(world.shop.id))], redacted);
    assert.equal((await findLedgerDifferences(store.write, world.shop.id)).length, 0);
    // The customer's active and paused subscription now count as two customers.
    const { summary: now } = await ask('metrics/summary');
    const { generatedAt } = now;
    assert.deepEqual(now, { ...summary, generatedAt, pausedSubscribers: 1 });
    const { subscriptions } = await ask(`entitlements?customerId=${customerId}`);
    assert.deepEqual(subscriptions, []);

    // Neither the source nor a file restores it.
    putContract(world.source, 1001, { customerId, updatedAt: '2026-11-05T00:00:00Z' });
    await send('subscription_contracts/update', { id: 1001 });
    await untilQuiet(store);
    await importAll(store, world.shop, [
      plan(),
      { ...subscription(1009), customerId },
      { ...subscription(1003), customerId, updatedAt: '2026-11-09T00:00:00Z' },
    ]);
    assert.deepEqual(await findEverywhere(store, customerId), left);
    assert.equal(
      (await customersOf(world.shop.id)).at(-1)?.['customer'],
      anonymousCustomerId(1009),
    );
    assert.equal((await findLedgerDifferences(store.write, world.shop.id)).length, 0);
    await send('customers/redact', redactBody(customerId));
    await untilQuiet(store);
    assert.deepEqual(await findEverywhere(store, customerId), left);
  });

  test('shop/redact deletes everything of the shop, and nothing of another', async () => {
    const { shop, service } = world;
    const place = { store, clock: systemClock, service };
    const sole = await signedInOwner({ ...place, shop });
    const both = await signedInOwner({ ...place, shop: world.other.shop });
    await store.write`
      insert into owners.memberships (owner_id, shop_id, created_at)
      select owner_id, ${shop.id}, now() from owners.accounts where email = ${both.email}`;
    const page = await sole.visitor.get(`/app/shops/${shop.id}/keys`);
    assert.equal(page.status, 200);
    const { key } = await createTestKey(store, shop.id);
    await send('customers/data_request', requestBody(500_004));
    await untilQuiet(store);
    assert.ok((await findEverywhere(store, shop.id)).length > 20);
    const ofOthers = async () =>
      (await listRows(store)).filter(({ row }) => row.includes(String(world.other.shop.id)));
    const theirs = await ofOthers();

    await send('app/uninstalled', { id: 954889, email, myshopify_domain: world.domain });
    await send('shop/redact', { shop_id: 954889, shop_domain: world.domain });
    await untilQuiet(store);
    // The entry that says so.
    assert.deepEqual(await findEverywhere(store, shop.id), ['public.audit_entries']);
    assert.deepEqual(await findEverywhere(store, world.domain), []);
    assert.deepEqual(await findEverywhere(store, sole.email), []);
    assert.deepEqual(await findEverywhere(store, both.email), ['owners.accounts']);
    assert.deepEqual(await ofOthers(), theirs);
    assert.equal((await get(`${service.baseUrl}/api/external/v1/plans`, key)).status, 401);

    // Repeated webhooks, and late ones about earlier events, restore nothing.
    await send('subscription_contracts/update', { id: 1001 });
    await send('customers/redact', redactBody(500_004));
    await send('customers/data_request', requestBody(500_004));
    await untilQuiet(store);
    await send('shop/redact', { shop_id: 954889, shop_domain: world.domain });
    await untilQuiet(store);
    assert.deepEqual(await findEverywhere(store, shop.id), ['public.audit_entries']);
  });

  test('no email address or phone number reaches the database or the log', async () => {
    for (const text of [email, phone, '15555550100']) {
      assert.deepEqual(await findEverywhere(store, text), []);
      assert.ok(!said.includes(text));
    }
    assert.ok(said.includes('"route":"/webhooks/shopify"'));
    assert.ok(!said.includes('customer'));
  });
});
