import assert from 'node:assert/strict';
import { test } from 'node:test';
import { generateShop } from '../../src/demo/generate.ts';
import { findLedgerDifferences } from '../../src/metrics/check.ts';
import { listChurnGroups } from '../../src/metrics/churn.ts';
import { churnFromRecords } from '../../src/metrics/plain-movements.ts';
import { migrate } from '../../src/store/migrate.ts';
import { onEmptyDatabase } from '../support/empty-database.ts';
import { migrateBefore, migrationText } from '../support/migrations.ts';
import { storeInOldSchema } from '../support/old-records.ts';
import { createShop, now } from '../support/world.ts';

const at = Date.parse(now);
const filling = '0040_departures.sql';
const records = [
  ...generateShop({ subscriptions: 80, seed: 2, endAt: at, currency: 'USD', minorDigits: 2 }),
];

onEmptyDatabase('the migration to departures', (open, whileMigrating) => {
  test('fills what every shop has stored, while its records can be read', async () => {
    const store = open();
    const { write } = store;
    await migrateBefore(write, filling);
    const shops = [await createShop(store), await createShop(store)];
    for (const shop of shops) await storeInOldSchema(write, shop, records);
    const window = { from: at - 365 * 86_400_000, until: at, now: at };
    const plain = await churnFromRecords(write, shops[0]!.id, window);
    assert.notEqual(plain.length, 0);
    await whileMigrating(migrationText(filling), async () => {
      const { analyse } = store.primary;
      assert.deepEqual(await churnFromRecords(analyse, shops[0]!.id, window), plain);
    });

    assert.equal((await migrate(write))[0], filling);
    const listed = (groups: typeof plain) =>
      groups
        .map(({ planId, cause, age, count }) => `${planId} ${cause} ${age.name}: ${count}`)
        .toSorted();
    for (const shop of shops) {
      assert.deepEqual([...(await findLedgerDifferences(write, shop.id))], []);
      const groups = await listChurnGroups(store.primary.analyse, shop.id, window);
      assert.deepEqual(listed(groups), listed(plain));
    }
  });
});
