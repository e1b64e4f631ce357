import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { FixedClock } from '../src/clock.ts';
import { findGroupOfShop, findMembership } from '../src/store/cluster/cluster.ts';
import { type Store, connectAll } from '../src/store/open.ts';
import { runProcess } from '../test/cli/process.ts';
import { openClient } from '../test/support/client.ts';
import { until } from '../test/support/until.ts';
import {
  createShop,
  createTestKey,
  get,
  importAll,
  now,
  silentLog,
  startTestService,
} from '../test/support/world.ts';
import { plan, subscription } from '../test/rest/records.ts';

const target = process.env['TEST_CITUS_URL'] as string;

describe('reading from workers', { timeout: 300_000 }, () => {
  let store: Store;
  let workers: readonly string[];
  let worker: string;
  before(async () => {
    const sql = openClient(target);
    const nodes = await sql<{ host: string; port: number }[]>`
      select nodename as host, nodeport as port from pg_dist_node
      where noderole = 'primary' and groupid <> 0 order by groupid`;
    await sql.end();
    workers = nodes.map(
      ({ host, port }) => Object.assign(new URL(target), { hostname: host, port }).href,
    );
    worker = workers[0] as string;
    store = {
      ...connectAll(target, { replication: { standbys: workers, log: silentLog } }),
      failed: new Promise(() => {}),
    };
    await until(() => store.replicas.every(({ isInUse }) => isInUse));
  });
  after(() => store.close());

  test('answers for every shop, from the worker that has it', async (t) => {
    const service = await startTestService(store, { clock: new FixedClock(now) });
    t.after(() => service.close());
    for (let count = 0; count < 6; count += 1) {
      const shop = await createShop(store);
      await importAll(store, shop, [plan(), subscription(1, { customerId: 5 })]);
      const { key } = await createTestKey(store, shop.id);
      const { status, body } = await get(
        `${service.baseUrl}/api/external/v1/entitlements?customerId=5`,
        key,
      );
      assert.equal(status, 200);
      assert.match(JSON.stringify(body), /"planId":11/);
      const group = await findGroupOfShop(store.write, shop.id);
      const nodeRead = () =>
        store.readRecent(shop.id, async ({ analyse }) => (await findMembership(analyse))?.group);
      // The first request asks where the shop is, without waiting for the answer.
      await until(async () => (await nodeRead()) === group);
      assert.deepEqual(await Promise.all([nodeRead(), nodeRead(), nodeRead()]), [
        group,
        group,
        group,
      ]);
    }
  });

  test('doctor names them, and refuses one of another cluster', async () => {
    const { out, code } = await runProcess(['doctor'], {
      env: { DATABASE_URL: target, DATABASE_READ_URL: worker, LOG_LEVEL: 'warn' },
    });
    assert.match(out, /ok {4}standby [\w.:]+: a worker of the cluster/);
    assert.match(out, /ok {4}cluster: Citus [\d.-]+, everything is distributed/);
    assert.equal(out.match(/ok {4}node /g)?.length, workers.length + 1);
    assert.equal(code, 0);
    const plainServer = process.env['TEST_POSTGRES'] as string;
    const other = await runProcess(['doctor'], {
      env: { DATABASE_URL: plainServer, DATABASE_READ_URL: worker, LOG_LEVEL: 'warn' },
    });
    assert.match(
      other.out,
      /FAIL {2}standby [\w.:]+: it is a worker of another cluster or database/,
    );
  });
});
