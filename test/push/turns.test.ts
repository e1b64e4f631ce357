import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { type Clock, systemClock } from '../../src/clock.ts';
import { JobQueue } from '../../src/platforms/webhooks/queue.ts';
import type { Store } from '../../src/store/open.ts';
import { plan, session } from '../rest/records.ts';
import { onOneOwnDatabase } from '../support/own-databases.ts';
import { until } from '../support/until.ts';
import { createShop, silentLog } from '../support/world.ts';
import { type PushWorld, type TestSource, createSource, deliver, startPushWorld } from './world.ts';

const plans = (first: number) =>
  Array.from({ length: 100 }, (_, index) => plan({ id: first + index }));

onOneOwnDatabase('batches of several sources', (open) => {
  const startedAt = Date.now();
  let offset = 0;
  const clock: Clock = { ...systemClock, now: () => startedAt + offset };
  let store: Store;
  let world: PushWorld;
  before(async () => {
    store = open();
    await store.write.script(`
      create table finished (number serial, source_id text);
      create function note() returns trigger language plpgsql as $$ begin
        insert into finished (source_id) values (new.source_id);
        return null;
      end $$;
      create trigger note after update on ingest.batches for each row
        when (old.finished_at is null and new.finished_at is not null) execute function note();
      create function refuse() returns trigger language plpgsql as
        $$ begin raise exception 'it is refused'; end $$;
      create trigger refuse before insert on plans for each row
        when (new.name = 'refused') execute function refuse()`);
    world = await startPushWorld(store, { clock });
  });
  after(async () => {
    await world.close();
    await store.close();
  });

  const send = async (source: TestSource, records: readonly object[]) => {
    const at = new Date(clock.now());
    const { status } = await deliver(world.baseUrl, source, records, { at });
    assert.equal(status, 202);
  };
  const finishedOf = async (...sources: readonly TestSource[]) => {
    const rows = await store.write<{ id: string }[]>`
      select source_id as id from finished order by number`;
    const ids = sources.map(({ sourceId }) => sourceId);
    return rows.map(({ id }) => 'abcd'[ids.indexOf(id)]).join('');
  };
  const attemptsOf = async ({ sourceId }: TestSource) => {
    const rows = await store.write<{ attempts: number }[]>`
      select attempts from ingest.batches
      where shop_id = ${world.shop.id} and source_id = ${sourceId} and finished_at is null`;
    return rows.map(({ attempts }) => attempts).toSorted((one, other) => other - one);
  };

  test('take turns; a session’s record passes what others have queued', async () => {
    const { shop } = world;
    const [a, b, c] = [
      await createSource(store, shop),
      await createSource(store, shop),
      await createSource(store, shop),
    ];
    const held = await store.write.reserve();
    await held`begin`;
    await held`select lock_shop(${shop.id})`;
    await send(a, plans(1000));
    await until(
      () => attemptsOf(a),
      ([attempts]) => attempts === 1,
    );
    await send(a, plans(1100));
    await send(a, plans(1200));
    for (const first of [2000, 2100, 2200]) await send(b, plans(first));
    await send(c, [session(7001)]);
    await held`commit`;
    held.release();
    const order = await until(
      () => finishedOf(a, b, c),
      (found) => found.length === 7,
    );
    // Between the turns of two that have had as much, either may be first.
    assert.match(order, /^acb(?:ab|ba){2}$/);
  });

  test('of other sources are stored while one fails, whose own wait behind it', async () => {
    const { shop } = world;
    const [a, b] = [await createSource(store, shop), await createSource(store, shop)];
    await store.write`delete from finished`;
    await send(a, [plan({ id: 3000, name: 'refused' })]);
    await send(a, [plan({ id: 3001 })]);
    await until(
      () => attemptsOf(a),
      ([attempts]) => attempts === 1,
    );
    await send(b, [plan({ id: 3002 })]);
    await until(
      () => finishedOf(a, b),
      (found) => found === 'b',
    );
    assert.deepEqual(await attemptsOf(a), [1, 0]);
    await store.write.script('drop trigger refuse on plans');
    offset += 5_000;
    await send(b, [plan({ id: 3003 })]);
    await until(
      () => finishedOf(a, b),
      (found) => found.length === 4,
    );
    assert.deepEqual(await attemptsOf(a), []);
  });

  test('leave a worker for other shops, however many jobs one shop has', async () => {
    const [busy, other] = [await createShop(store), await createShop(store)];
    const queue = new JobQueue(store.jobs, silentLog);
    const started: number[] = [];
    const released = Promise.withResolvers<void>();
    queue.work('test-turns', 'hints', async ({ shopId }) => {
      started.push(shopId);
      if (shopId === busy.id && started.length === 1) await released.promise;
    });
    await queue.open();
    const job = { topic: 'test', receivedAt: new Date(startedAt).toISOString(), kind: 'test' };
    for (const [index, { id: shopId }] of [busy, busy, busy, other].entries()) {
      await queue.send('test-turns', { ...job, shopId, event: randomUUID() }, String(index));
      if (index === 0)
        await until(
          () => started.length,
          (count) => count === 1,
        );
    }
    await until(
      () => started.length,
      (count) => count === 2,
    );
    assert.deepEqual(started, [busy.id, other.id]);
    released.resolve();
    await until(
      () => started.length,
      (count) => count === 4,
    );
    await queue.close();
  });
});
