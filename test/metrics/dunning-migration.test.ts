import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toSummary } from '../../src/metrics/figures.ts';
import { findLedgerDifferences } from '../../src/metrics/check.ts';
import { summariseFromRecords } from '../../src/metrics/plain.ts';
import { summariseMetrics } from '../../src/metrics/summary.ts';
import { migrate } from '../../src/store/migrate.ts';
import { onEmptyDatabase } from '../support/empty-database.ts';
import { migrateBefore, migrationText } from '../support/migrations.ts';
import { storeInOldSchema } from '../support/old-records.ts';
import { type TestShop, createShop, now } from '../support/world.ts';
import { listCases } from './cases.ts';
import { troubledCases, troubledRecords } from './troubled.ts';

const at = Date.parse(now);
const name = '0012_dunning_of_live.sql';
/** The previous rule: any failure opens a case, even after the subscription has ended. */
const casesBefore = [
  '1 2026-11-05 00:00:00',
  '2 2026-11-02 00:00:00 2026-11-03 00:00:00 recovered',
  '3 2026-11-02 00:00:00',
  '4 2026-11-02 00:00:00 2026-11-04 00:00:00 lost',
  '5 2026-11-07 10:00:00 2026-11-07 10:00:00 lost',
  '6 2026-11-08 10:00:00',
  '7 2026-11-08 10:00:00.001 2026-11-09 00:00:00 recovered',
];

onEmptyDatabase('the migration to dunning of live subscriptions', (open, whileMigrating) => {
  const dunningOf = async (shop: TestShop) => {
    const summary = toSummary(await summariseMetrics(open().write, shop.id, at), 'USD', at);
    return [summary.dunningActive, summary.recoveryRate];
  };

  test('corrects what the previous version stored, for every shop, while everything can be read', async () => {
    const store = open();
    const { write } = store;
    await migrateBefore(write, name);
    const shops = [await createShop(store), await createShop(store)];
    for (const shop of shops) {
      await storeInOldSchema(write, shop, troubledRecords);
      assert.deepEqual(await listCases(write, shop.id), casesBefore);
    }

    await whileMigrating(migrationText(name), async () => {
      const [shop] = shops as [TestShop];
      const { primary } = store;
      assert.equal((await listCases(primary.keys, shop.id)).length, 7);
      assert.equal((await primary.entitlements.of(shop.id, 1)).length, 1);
    });

    assert.equal((await migrate(write))[0], name);
    for (const shop of shops) {
      assert.deepEqual(await listCases(write, shop.id), troubledCases);
      assert.deepEqual(await dunningOf(shop), [1, 0.3333]);
      // The comparison that `metrics verify` makes.
      assert.deepEqual([...(await findLedgerDifferences(write, shop.id))], []);
      const served = toSummary(await summariseMetrics(write, shop.id, at), 'USD', at);
      const plain = toSummary(await summariseFromRecords(write, shop.id, at), 'USD', at);
      assert.deepEqual(served, plain);
    }
  });
});
