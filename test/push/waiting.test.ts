import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Clock, systemClock } from '../../src/clock.ts';
import type { Store } from '../../src/store/open.ts';
import { plan as planOf } from '../rest/records.ts';
import { onOneOwnDatabase } from '../support/own-databases.ts';
import { until } from '../support/until.ts';
import { startTestService } from '../support/world.ts';
import { type PushWorld, credentialsKeys, deliver, startPushWorld } from './world.ts';

const plan = planOf({ id: 1 });
const line = {
  lineId: 1,
  productId: 1,
  productTitle: 'House Blend',
  variantId: 1,
  quantity: 1,
  currentPrice: '15.30',
};
const subscription = {
  type: 'subscription',
  id: 999,
  customerId: 1,
  planId: 1,
  status: 'active',
  createdAt: '2026-05-05T11:00:00Z',
  lines: [line],
};
const session = {
  type: 'cancellation',
  id: 5,
  detectedReason: 'unknown',
  createdAt: '2026-11-20T00:00:00Z',
};

onOneOwnDatabase('pushed records that wait', (open) => {
  // Stands still, so that nothing is due before a test says so, however long the machine takes.
  const startedAt = Date.now();
  let offset = 0;
  const clock: Clock = { ...systemClock, now: () => startedAt + offset };
  let store: Store;
  before(() => {
    store = open();
  });
  after(() => store.close());

  async function startWorld() {
    const world = await startPushWorld(store, { clock });
    const sql = store.write;
    const pushed = async (...records: readonly object[]) => {
      const { status, body } = await world.push(records, { at: new Date(clock.now()) });
      assert.equal(status, 202);
      return body.batchId;
    };
    /** Waits until a batch that comes after all of these is stored. */
    const settle = async () => {
      await finished(await pushed({ ...plan, id: 77 }));
    };
    const stateOf = async (batchId: string) => {
      const [found] = await sql<{ finishedAt: Date | null; retryAt: Date | null }[]>`
        select finished_at as "finishedAt", retry_at as "retryAt" from ingest.batches
        where shop_id = ${world.shop.id} and batch_id = ${batchId}`;
      return found ?? { finishedAt: null, retryAt: null };
    };
    const finished = async (batchId: string) => {
      // Sixty batches may be stored before it, one after the other.
      await until(
        () => stateOf(batchId),
        (state) => state.finishedAt !== null,
        { minutes: 3 },
      );
    };
    /** Has everything that waits tried again. */
    const later = async (seconds = 60) => {
      offset += seconds * 1000;
      await settle();
    };
    const sessionOf = async (id: number) => {
      const [found] = await sql<{ outcome: string | null }[]>`
        select outcome from cancellation_sessions
        where shop_id = ${world.shop.id} and session_id = ${id}`;
      return found;
    };
    return { world, pushed, settle, stateOf, finished, later, sessionOf };
  }
  const close = ({ world }: { world: PushWorld }) => world.close();

  test('hold up later records with the same key, in other batches too', async (t) => {
    const here = await startWorld();
    t.after(() => close(here));
    const { pushed, settle, finished, later, sessionOf } = here;
    await pushed(plan);
    await pushed(
      { ...session, subscriptionId: 999 },
      { ...session, id: 6, subscriptionId: 999 },
      { ...session, id: 6, outcome: 'abandoned' },
    );
    await pushed({ ...session, outcome: 'saved' });
    await settle();
    assert.deepEqual([await sessionOf(5), await sessionOf(6)], [undefined, undefined]);
    const last = await pushed({ type: 'delete', record: 'cancellation', id: 6 });
    await pushed(subscription);
    await later();
    await finished(last);
    assert.deepEqual([await sessionOf(5), await sessionOf(6)], [{ outcome: 'saved' }, undefined]);
  });

  test('hold up later records after a restart, until they are refused', async () => {
    const here = await startWorld();
    const { world, pushed, settle, finished, sessionOf } = here;
    await pushed({ ...session, subscriptionId: 999 });
    const last = await pushed({ ...session, outcome: 'saved' });
    await settle();
    await close(here);
    offset += 300_000;
    const again = await startTestService(store, { clock, credentialsKeys });
    const { body } = await deliver(again.baseUrl, world.source, [{ ...plan, id: 78 }], {
      at: new Date(clock.now()),
    });
    await finished(body.batchId);
    assert.equal(await sessionOf(5), undefined);
    await again.close();
    offset += 301_000;
    const third = await startTestService(store, { clock, credentialsKeys });
    await finished(last);
    assert.deepEqual(await sessionOf(5), { outcome: 'saved' });
    const batches = await store.write<{ refused: string }[]>`
      select refused from ingest.batches
      where shop_id = ${world.shop.id} and refused <> '[]'`;
    assert.deepEqual(
      batches.map(({ refused }) => JSON.parse(refused)),
      [[{ line: 1, reason: 'subscription 999 is not known', record: 'cancellation 5' }]],
    );
    await third.close();
  });

  test('a deletion that waits is followed by what came after it', async (t) => {
    const here = await startWorld();
    t.after(() => close(here));
    const { pushed, settle, finished, later, world } = here;
    await pushed(plan, subscription);
    await pushed({ type: 'delete', record: 'plan', id: 1 });
    const last = await pushed({ ...plan, name: 'Weekly box' });
    await settle();
    await pushed({ type: 'delete', record: 'subscription', id: 999 });
    await later();
    await finished(last);
    const plans = await store.write<{ name: string }[]>`
      select name from plans where shop_id = ${world.shop.id} and plan_id = 1`;
    assert.deepEqual([...plans], [{ name: 'Weekly box' }]);
  });

  test('are tried again one after the other, not before their time, and by few jobs', async (t) => {
    const here = await startWorld();
    t.after(() => close(here));
    const { pushed, settle, stateOf, finished, later, world } = here;
    const batches: string[] = [];
    for (let id = 1; id <= 60; id += 1) {
      batches.push(await pushed({ ...session, id, subscriptionId: 1000 + id }));
    }
    await settle();
    await settle();
    const [first = '', last = ''] = [batches[0], batches.at(-1)];
    const { retryAt } = await stateOf(first);
    await pushed(plan, { ...subscription, id: 1060 });
    await settle();
    assert.deepEqual(await stateOf(first), { finishedAt: null, retryAt });
    // One that is due and one for later, at most. A busy machine retries interrupted ones beside them.
    const [jobs] = await store.write<{ count: number }[]>`
      select count(*)::int as count from jobs.job
      where name = 'push-shops' and state = 'created' and data->>'shopId' = ${String(world.shop.id)}`;
    assert.ok((jobs?.count ?? 60) <= 2, String(jobs?.count));
    await later();
    await finished(last);
    assert.equal((await stateOf(first)).finishedAt, null);
  });
});
