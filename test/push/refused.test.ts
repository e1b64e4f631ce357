import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { type Clock, systemClock } from '../../src/clock.ts';
import { firstOutcomes } from '../../src/push/outcomes.ts';
import { createLog } from '../../src/log/log.ts';
import { insertBatch } from '../../src/store/push/batches.ts';
import { listPushSources } from '../../src/store/push/sources.ts';
import type { Store } from '../../src/store/open.ts';
import { plain } from '../owner/page-text.ts';
import { signedInOwner } from '../owner/visitor.ts';
import { onOneOwnDatabase } from '../support/own-databases.ts';
import { until } from '../support/until.ts';
import { valueOf } from '../telemetry/exposition.ts';
import { scrape } from '../telemetry/scrape.ts';
import { type SendOptions, startPushWorld } from './world.ts';

const day = 86_400_000;
const session = {
  type: 'cancellation',
  id: 7001,
  detectedReason: 'too_expensive',
  createdAt: '2026-11-17T10:58:00Z',
};
const wrong = { ...session, outcome: 'gone' };
const reason = 'outcome must be one of saved, cancelled, abandoned';

onOneOwnDatabase('pushed records that are refused after the 202', (open) => {
  let store: Store;
  before(() => {
    store = open();
  });
  after(() => store.close());

  async function startWorld() {
    let offset = 0;
    const clock: Clock = { ...systemClock, now: () => Date.now() + offset };
    const lines: Record<string, unknown>[] = [];
    const log = createLog('warn', { write: (line) => void lines.push(JSON.parse(line)) });
    const world = await startPushWorld(store, { clock, log });
    const { shop, service } = world;
    const send = async (records: Parameters<typeof world.push>[0], sending: SendOptions = {}) => {
      const { status, body } = await world.push(records, {
        at: new Date(clock.now()),
        ...sending,
      });
      assert.equal(status, 202);
      return body.batchId;
    };
    const stateOf = async (batchId: string) => {
      const [found] = await store.write<{ isDone: boolean; isWaiting: boolean }[]>`
        select finished_at is not null as "isDone", is_waiting as "isWaiting"
        from ingest.batches where shop_id = ${shop.id} and batch_id = ${batchId}`;
      assert.ok(found);
      return found;
    };
    return {
      ...world,
      send,
      stateOf,
      /** Sends records, and waits until their batch is stored. */
      async sendAll(records: Parameters<typeof world.push>[0]) {
        const batchId = await send(records);
        await until(
          () => stateOf(batchId),
          ({ isDone }) => isDone,
        );
        return batchId;
      },
      pass: (milliseconds: number) => void (offset += milliseconds),
      logged: () => lines.filter(({ msg }) => msg === 'pushed records refused'),
      counted: async () =>
        valueOf(
          (await scrape(service.metricsUrl)).families,
          'retention_push_refused_records_total',
        ),
      listed: async () => {
        const [found] = await listPushSources(store.write, shop.id, clock.now());
        assert.ok(found);
        const { refusedRecords, lastRefusedAt, lastRefusedReason } = found;
        return { refusedRecords, lastRefusedAt, lastRefusedReason };
      },
      page: async () => {
        const { visitor } = await signedInOwner({ store, clock, service, shop });
        return plain((await visitor.get(`/app/shops/${shop.id}/sources`)).text);
      },
    };
  }

  test('show in the log, the metrics, the list of sources and on their page', async (t) => {
    const world = await startWorld();
    t.after(() => world.close());
    const { shop, source } = world;
    const none = { refusedRecords: 0, lastRefusedAt: null, lastRefusedReason: null };
    await world.sendAll([session]);
    assert.deepEqual(await world.listed(), none);
    assert.equal(await world.counted(), 0);
    assert.doesNotMatch(await world.page(), /refused/);

    const orphan = { ...session, id: 7002, subscriptionId: 404 };
    const batchId = await world.send([session, orphan, wrong]);
    await until(
      () => world.stateOf(batchId),
      ({ isWaiting }) => isWaiting,
    );
    assert.equal((await world.listed()).refusedRecords, 1);
    assert.deepEqual(world.logged(), []);
    world.pass(11 * 60_000);
    await world.send([session], { id: 'another' });
    await until(
      () => world.stateOf(batchId),
      ({ isDone }) => isDone,
    );
    await until(world.counted, (count) => count === 2);

    const [line, ...others] = world.logged();
    assert.deepEqual(others, []);
    const { time: _time, ...logged } = line ?? {};
    assert.deepEqual(logged, {
      level: 'warn',
      shopId: shop.id,
      sourceId: source.sourceId,
      batchId,
      refused: 2,
      reason: 'subscription 404 is not known',
      msg: 'pushed records refused',
    });
    const last = await world.listed();
    assert.equal(last.refusedRecords, 2);
    assert.equal(last.lastRefusedReason, 'subscription 404 is not known');
    assert.match(
      await world.page(),
      /Test ?: 2 records were refused in the last 30 days\. The last came 11 minutes ago ?: “subscription 404 is not known”\. Correct what sends them, and send them again\./,
    );

    // The last batch counts, and only those of 30 days.
    await world.sendAll(JSON.stringify([wrong]));
    assert.deepEqual(
      { ...(await world.listed()), lastRefusedAt: undefined },
      { refusedRecords: 3, lastRefusedAt: undefined, lastRefusedReason: reason },
    );
    world.pass(31 * day);
    assert.deepEqual(await world.listed(), none);
    assert.doesNotMatch(await world.page(), /refused/);
  });

  test('include those of a batch that could not be stored', async (t) => {
    const world = await startWorld();
    t.after(() => world.close());
    const key = { shopId: world.shop.id, sourceId: world.source.sourceId, batchId: randomUUID() };
    await insertBatch(store.write, {
      ...key,
      digest: '',
      receivedAt: new Date(),
      lines: '1 {}\n2 {}',
      outcomes: JSON.stringify(firstOutcomes([])),
      refused: '[]',
    });
    await store.write`
      update ingest.batches set attempts = 8
      where shop_id = ${key.shopId} and batch_id = ${key.batchId}`;
    await world.sendAll([session]);
    const { status, outcomes, refused } = await world.read(key.batchId);
    assert.deepEqual([status, outcomes['refused'], refused.length], ['failed', 2, 2]);
    const { refusedRecords, lastRefusedReason } = await world.listed();
    assert.equal(refusedRecords, 2);
    assert.match(lastRefusedReason ?? '', /^it could not be stored in 8 attempts/);
    await until(world.counted, (count) => count === 2);
  });

  test('are one line in log and page, however many and however wrong they are', async (t) => {
    const world = await startWorld();
    t.after(() => world.close());
    const subscription = {
      type: 'subscription',
      id: 1,
      statusEvents: Array.from({ length: 500 }, () => ({})),
    };
    await world.sendAll([subscription, ...Array.from({ length: 999 }, () => wrong)]);
    await until(world.counted, (count) => count === 1000);
    const [line, ...others] = world.logged();
    assert.deepEqual(others, []);
    assert.equal(line?.['refused'], 1000);
    assert.ok(JSON.stringify(line).length < 1000);
    const { lastRefusedReason } = await world.listed();
    assert.match(lastRefusedReason ?? '', /^customerId is missing; .*; and more problems$/);
    assert.ok((lastRefusedReason?.length ?? 0) <= 500);
    const page = await world.page();
    assert.match(page, /1,000 records were refused/);
    assert.ok(page.length < 5000);
  });
});
