import assert from 'node:assert/strict';
import { test } from 'node:test';
import { generateShop } from '../../src/demo/generate.ts';
import { findLedgerDifferences } from '../../src/metrics/check.ts';
import { listClosed, listOutstanding, totalOf } from '../../src/metrics/recovery/figures.ts';
import { recoveryFromRecords } from '../../src/metrics/recovery/plain.ts';
import { summariseMetrics } from '../../src/metrics/summary.ts';
import { migrate } from '../../src/store/migrate.ts';
import { onEmptyDatabase } from '../support/empty-database.ts';
import { migrateBefore, migrationText } from '../support/migrations.ts';
import { storeInOldSchema } from '../support/old-records.ts';
import { createShop, now } from '../support/world.ts';

const at = Date.parse(now);
const filling = '0044_fill_dunning_cases.sql';
const records = [
  ...generateShop({ subscriptions: 120, seed: 2, endAt: at, currency: 'USD', minorDigits: 2 }),
];

onEmptyDatabase('the migration to amounts of dunning cases', (open, whileMigrating) => {
  test('fills the cases of every shop, while everything can be read', async () => {
    const store = open();
    const { write } = store;
    await migrateBefore(write, filling);
    const shops = [await createShop(store), await createShop(store)];
    for (const shop of shops) await storeInOldSchema(write, shop, records);
    const summary = await summariseMetrics(write, shops[0]!.id, at);

    const [slow = '', last] = migrationText(filling).split('-- Last, ');
    assert.notEqual(last, undefined);
    await whileMigrating(slow, async () => {
      const { analyse } = store.primary;
      assert.deepEqual(await summariseMetrics(analyse, shops[0]!.id, at), summary);
    });

    assert.ok((await migrate(write)).includes(filling));
    for (const { id } of shops) {
      assert.deepEqual([...(await findLedgerDifferences(write, id))], []);
      assert.deepEqual(await summariseMetrics(write, id, at), summary);
      const plain = await recoveryFromRecords(write, id, { from: 0, until: at }, at);
      assert.notEqual(plain.closed.length, 0);
      assert.deepEqual(
        totalOf(await listClosed(write, id, { from: 0, until: at })),
        totalOf(plain.closed),
      );
      assert.deepEqual(totalOf(await listOutstanding(write, id, at)), totalOf(plain.outstanding));
    }
  });
});
