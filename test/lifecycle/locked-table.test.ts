import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Clock, systemClock } from '../../src/clock.ts';
import { type Store, connectAll } from '../../src/store/open.ts';
import { openClient } from '../support/client.ts';
import { type PostgresServer, findPostgresPrograms, requirePostgres } from '../support/postgres.ts';
import { type World, get, importAll, startWorld } from '../support/world.ts';
import { plan, session, subscription } from '../rest/records.ts';

const skip = findPostgresPrograms() === undefined && 'PostgreSQL is not available on this machine';

/** By table, the requests that do not need it; a summary reads the latest rows of both. */
const unaffected: Readonly<Record<string, readonly string[]>> = {
  subscriptions: ['/plans', '/cancellations'],
  cancellation_sessions: [
    '/plans',
    '/subscriptions',
    '/subscriptions/1001',
    '/entitlements?customerId=501',
  ],
};

describe('a locked table', { skip, timeout: 600_000 }, () => {
  let server: PostgresServer;
  let store: Store;
  let world: World<Clock>;
  before(async () => {
    server = await requirePostgres(['fsync=off']);
    store = connectAll(server.url);
    world = await startWorld(store, { clock: systemClock });
    const records = [plan(), subscription(1001), session(71, { subscriptionId: 1001 })];
    assert.deepEqual((await importAll(store, world.shop, records)).refused, []);
  });
  after(async () => {
    await world.close();
    await server.destroy();
  });

  const send = async (path: string) => (await get(world.base + path, world.key)).status;

  for (const [table, paths] of Object.entries(unaffected)) {
    test(`${table}: other requests are answered meanwhile, and those that read it afterwards`, async (t) => {
      const admin = openClient(server.url);
      // Also ends the lock, whatever happens in the test.
      t.after(() => admin.end(0));
      const held = await admin.reserve();
      await held.script(`begin; lock table ${table} in access exclusive mode`);
      const reading = table === 'subscriptions' ? '/subscriptions' : '/cancellations';
      const waiting = Array.from({ length: 20 }, () => send(reading));
      let isAnswered = false;
      void Promise.race(waiting).then(() => (isAnswered = true));
      for (let round = 0; round < 20; round += 1) {
        for (const path of paths) assert.equal(await send(path), 200, path);
      }
      assert.equal(isAnswered, false, 'the lock blocked nothing');
      await held`rollback`;
      held.release();
      assert.deepEqual(new Set(await Promise.all(waiting)), new Set([200]));
    });
  }
});
