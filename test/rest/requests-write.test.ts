import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { updateRevokedKey } from '../../src/store/keys/keys.ts';
import { coordinatorTables } from '../../src/store/cluster/cluster.ts';
import { migrate } from '../../src/store/migrate.ts';
import type { Store } from '../../src/store/open.ts';
import { onOneOwnDatabase } from '../support/own-databases.ts';
import { until } from '../support/until.ts';
import { createTestKey, get, startWorld } from '../support/world.ts';

// All shops of a cluster share the coordinator.
onOneOwnDatabase('requests write to no table that a cluster keeps on its coordinator', (open) => {
  let store: Store;
  before(async () => {
    store = open();
    await migrate(store.write);
  });
  after(() => store.close());

  test('nor do those with a revoked key', async (t) => {
    const { store: worlds, service, base, key, shop, clock } = await startWorld(store);
    t.after(() => service.close());
    const revoked = await createTestKey(worlds, shop.id);
    await updateRevokedKey(store.write, shop.id, revoked.id, new Date(clock.now()));
    await store.write.script(`
      create function refuse() returns trigger language plpgsql as
        $$ begin raise exception 'a request wrote to %', tg_table_name; end $$`);
    for (const table of coordinatorTables) {
      await store.write.unsafe(`
        create trigger refuse before insert or update or delete on ${table}
        for each statement execute function refuse()`);
    }
    assert.equal((await get(`${base}/plans`, key)).status, 200);
    assert.equal((await get(`${base}/plans`, revoked.key)).status, 401);
    const tables = async () => {
      const [found] = await store.write<{ uses: number; counts: number; batches: number }[]>`
        select (select count(*) from key_uses) as uses,
          (select sum(requests) from request_counts)::int as counts,
          (select sum(requests) from request_batches)::int as batches`;
      return { ...found };
    };
    await until(async () => {
      const { uses, counts, batches } = await tables();
      return uses === 1 && counts === 2 && batches === 2;
    });
  });
});
