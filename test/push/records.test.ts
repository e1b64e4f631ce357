import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Clock, systemClock } from '../../src/clock.ts';
import { deriveId } from '../../src/ingest/source-ids.ts';
import { insertBatch } from '../../src/store/push/batches.ts';
import type { Store } from '../../src/store/open.ts';
import { onOwnDatabases } from '../support/own-databases.ts';
import { scrape } from '../telemetry/scrape.ts';
import { valueOf } from '../telemetry/exposition.ts';
import { listJobCounts } from '../../src/store/feeds/jobs.ts';
import { until } from '../support/until.ts';
import { createTestKey, get } from '../support/world.ts';
import { type PushWorld, startPushWorld } from './world.ts';

const plan = {
  type: 'plan',
  id: 'price_1Nx',
  name: 'Monthly box',
  planType: 'subscription',
  intervalUnit: 'month',
  intervalCount: 1,
};
const subscription = {
  type: 'subscription',
  id: 'sub_1Nx',
  customerId: 'cus_9s6',
  planId: 'price_1Nx',
  status: 'active',
  createdAt: '2026-05-05T11:00:00Z',
  lines: [
    {
      lineId: 'si_1',
      productId: 'prod_1',
      productTitle: 'House Blend',
      variantId: 91,
      quantity: 2,
      currentPrice: '15.30',
    },
  ],
};
const session = {
  type: 'cancellation',
  id: 7001,
  subscriptionId: 'sub_1Nx',
  detectedReason: 'too_expensive',
  outcome: 'saved',
  createdAt: '2026-11-17T10:58:00Z',
};
const unpaid = {
  type: 'payment',
  id: 9001,
  subscriptionId: 'sub_1Nx',
  cycle: '2026-11',
  status: 'succeeded',
  processedAt: '2026-11-05T11:00:02Z',
};
const none = { stored: 0, replaced: 0, unchanged: 0, stale: 0, deleted: 0, refused: 0 };

onOwnDatabases('pushed records', (open) => {
  let offset = 0;
  const clock: Clock = { ...systemClock, now: () => Date.now() + offset };
  let store: Store;
  let world: PushWorld;
  before(async () => {
    store = open();
    world = await startPushWorld(store, { clock });
  });
  after(async () => {
    await world.close();
    await store.close();
  });

  test('are stored, with integers for ids that are texts', async () => {
    const { status, body } = await world.push([plan, subscription, session]);
    assert.equal(status, 202);
    assert.deepEqual(Object.keys(body), ['batchId']);
    assert.deepEqual(await world.finished(body.batchId), {
      batchId: body.batchId,
      status: 'done',
      outcomes: { ...none, stored: 3 },
      refused: [],
    });
    const { key } = await createTestKey(store, world.shop.id);
    const { body: listed } = await get(`${world.baseUrl}/api/external/v1/subscriptions`, key);
    const [found] = listed.subscriptions;
    assert.equal(found.subscriptionId, deriveId('subscription', 'sub_1Nx'));
    assert.equal(found.customerId, deriveId('customer', 'cus_9s6'));
    assert.equal(found.currentPrice, 30.6);
    const texts = await store.write<{ text: string }[]>`
      select source_id as text from source_ids where shop_id = ${world.shop.id} order by 1`;
    assert.deepEqual(
      texts.map(({ text }) => text),
      ['cus_9s6', 'price_1Nx', 'sub_1Nx'],
    );
  });

  test('are answered with their outcomes, and the lines that were refused', async () => {
    const { body } = await world.push(
      JSON.stringify([
        { ...plan, name: 'Monthly box of two' },
        session,
        { ...session, id: 7002, outcome: 'gone' },
        { type: 'delete', record: 'cancellation', id: 7003 },
        { type: 'delete', record: 'cancellation', id: 7001 },
        'text',
        { ...unpaid, amount: 'NUMBER' },
      ]).replace('"NUMBER"', '15.300000000000000001'),
    );
    const batch = await world.finished(body.batchId);
    assert.deepEqual(batch.outcomes, {
      ...none,
      replaced: 1,
      unchanged: 2,
      deleted: 1,
      refused: 3,
    });
    assert.deepEqual(batch.refused, [
      {
        line: 3,
        reason: 'outcome must be one of saved, cancelled, abandoned',
        record: 'cancellation 7002',
      },
      { line: 6, reason: 'record 6 is not a JSON object' },
      {
        line: 7,
        reason: 'amount must be an amount of 0 or more, below 10^12, with at most 2 decimals',
        record: 'payment 9001',
      },
    ]);
  });

  test('may say why a payment failed, by a code', async () => {
    const payment = {
      type: 'payment',
      subscriptionId: 'sub_1Nx',
      cycle: 1,
      status: 'failed',
      amount: '30.60',
      processedAt: '2026-11-18T00:00:00Z',
    };
    const { body } = await world.push([
      { ...payment, id: 91, failureCode: 'card_declined' },
      { ...payment, id: 92, failureCode: 'The card was declined' },
    ]);
    const { refused } = await world.finished(body.batchId);
    assert.deepEqual(refused, [
      {
        line: 2,
        reason: 'failureCode must be a code of at most 64 letters, digits, "_", "." and "-"',
        record: 'payment 92',
      },
    ]);
    const [stored] = await store.write<{ code: string }[]>`
      select failure_code as code from payments where shop_id = ${world.shop.id}`;
    assert.equal(stored?.code, 'card_declined');
  });

  test('are stored in the order in which they arrived', async () => {
    const names = Array.from({ length: 30 }, (_, number) => `Box ${number}`);
    const batches: string[] = [];
    for (const name of names) {
      batches.push((await world.push([{ ...plan, id: 12, name }])).body.batchId);
    }
    await world.finished(batches.at(-1) as string);
    const [stored] = await store.write<{ name: string }[]>`
      select name from plans where shop_id = ${world.shop.id} and plan_id = 12`;
    assert.equal(stored?.name, 'Box 29');
  });

  test('wait for records that they refer to', async () => {
    const child = { ...session, id: 7010, subscriptionId: 1010 };
    const orphan = { ...session, id: 7011, subscriptionId: 1011 };
    const first = await world.push([child, orphan, { ...session, id: 7012 }]);
    await world.push([{ ...subscription, id: 1010 }]);
    const { batchId } = first.body;
    const { status } = await until(
      () => world.read(batchId),
      ({ outcomes }) => outcomes['stored'] === 2,
    );
    assert.equal(status, 'working');
    // The job that has stored it would find it due again at the new time, and put it off for another minute.
    await until(async () => {
      const jobs = await listJobCounts(store.write);
      return !jobs.some(({ shopId, state }) => shopId === world.shop.id && state === 'active');
    });
    // Whatever is pushed has what is due by then tried again.
    offset = 60_000;
    await world.push([{ ...subscription, id: 1011 }], { at: new Date(clock.now()) });
    const batch = await world.finished(batchId);
    assert.deepEqual(batch.outcomes, { ...none, stored: 3 });
  });

  test('are counted in the metrics until they are stored', async () => {
    // Not of a new service, which would take up what it finds unfinished when its queue opens.
    const { service } = world;
    const measure = async () => {
      const { families } = await scrape(service.metricsUrl);
      const [queued, waiting] = ['queued', 'waiting'].map((state) =>
        valueOf(families, 'retention_push_batches', { state }),
      );
      const age = valueOf(families, 'retention_push_oldest_batch_seconds') ?? -1;
      const use = valueOf(families, 'retention_push_queue_use_ratio', { limit: 'queued' });
      return { queued, waiting, use, age };
    };
    assert.deepEqual(await measure(), { queued: 0, waiting: 0, use: 0, age: 0 });
    const batch = {
      shopId: world.shop.id,
      sourceId: 'src_without_a_job',
      batchId: '00000000-0000-4000-8000-000000000001',
      digest: '',
      receivedAt: new Date(Date.now() - 3_600_000),
      lines: '1 {}',
      outcomes: '{}',
      refused: '[]',
    };
    await insertBatch(store.write, batch);
    const { age, ...counts } = await measure();
    assert.deepEqual(counts, { queued: 1, waiting: 0, use: 1 / 400 });
    assert.ok(age >= 3_600);
    await store.write`update ingest.batches set is_waiting = true where shop_id = ${world.shop.id}`;
    assert.equal((await measure()).waiting, 1);
    await store.write`delete from ingest.batches where shop_id = ${world.shop.id}`;
  });
});
