import assert from 'node:assert/strict';
import { test } from 'node:test';
import { generateShop } from '../../src/demo/generate.ts';
import { findLedgerDifferences } from '../../src/metrics/check.ts';
import { findFigureDifferences } from '../../src/metrics/figure-check.ts';
import { projectRenewals } from '../../src/metrics/revenue/projection.ts';
import { summariseMetrics } from '../../src/metrics/summary.ts';
import { migrate } from '../../src/store/migrate.ts';
import { onEmptyDatabase } from '../support/empty-database.ts';
import { migrateBefore, migrationText } from '../support/migrations.ts';
import { storeInOldSchema } from '../support/old-records.ts';
import { createShop, now } from '../support/world.ts';

const at = Date.parse(now);
const filling = '0045_renewals_by_interval.sql';
const records = [
  ...generateShop({ subscriptions: 80, seed: 2, endAt: at, currency: 'USD', minorDigits: 2 }),
];

onEmptyDatabase('the migration to renewals by interval', (open, whileMigrating) => {
  test('fills what every shop has stored, while everything can be read', async () => {
    const store = open();
    const { write } = store;
    await migrateBefore(write, filling);
    const shops = [await createShop(store), await createShop(store)];
    for (const shop of shops) {
      await storeInOldSchema(write, shop, records);
      await write`
          insert into cancellation_sessions
          select shop_id, subscription_id, subscription_id, 'other', null, 'saved',
            ${new Date(at - 86_400_000).toISOString()}, null, digest
          from subscriptions where shop_id = ${shop.id} and subscription_id % 3 = 0`;
    }
    const summary = await summariseMetrics(write, shops[0]!.id, at);
    await whileMigrating(migrationText(filling), async () => {
      const { analyse } = store.primary;
      assert.deepEqual(await summariseMetrics(analyse, shops[0]!.id, at), summary);
    });

    assert.equal((await migrate(write))[0], filling);
    for (const shop of shops) {
      assert.deepEqual([...(await findLedgerDifferences(write, shop.id))], []);
      const [week] = await projectRenewals(write, shop.id, at);
      assert.equal(week?.renewals, summary.upcomingRenewals);
      assert.ok(Number(summary.upcomingRenewals) > 0);
      const [{ saved } = { saved: 0 }] = await write<{ saved: number }[]>`
          select count(saved_at) as saved from subscriptions where shop_id = ${shop.id}`;
      assert.ok(saved > 0);
      const differing = await write.begin((tx) => findFigureDifferences(tx, shop, at));
      assert.deepEqual(differing, []);
    }
  });
});
