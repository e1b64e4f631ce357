import assert from 'node:assert/strict';
import { test } from 'node:test';
import { generateShop } from '../../src/demo/generate.ts';
import { findLedgerDifferences } from '../../src/metrics/check.ts';
import { listCohorts } from '../../src/metrics/cohorts.ts';
import { findFigureDifferences } from '../../src/metrics/figure-check.ts';
import type { Sql } from '../../src/store/database.ts';
import { migrate } from '../../src/store/migrate.ts';
import { onEmptyDatabase } from '../support/empty-database.ts';
import { migrateBefore, migrationText } from '../support/migrations.ts';
import { storeInOldSchema } from '../support/old-records.ts';
import { createShop, now } from '../support/world.ts';

const at = Date.parse(now);
const expanding = '0029_movements_and_cohorts.sql';
const filling = '0030_fill_movements_and_cohorts.sql';
const records = [
  ...generateShop({ subscriptions: 80, seed: 2, endAt: at, currency: 'USD', minorDigits: 2 }),
];

/** What the previous version reads its figures from. */
const readSums = (sql: Sql, shopId: number) => sql`
  select * from metric_ledger where shop_id = ${shopId} and fact not like 'cohort %'
  order by grain, bucket, fact`;

onEmptyDatabase('the migrations to movements and cohorts', (open, whileMigrating) => {
  test('fill what every shop has stored, while everything can be read and written in between', async () => {
    const store = open();
    const { write } = store;
    await migrateBefore(write, expanding);
    const shops = [await createShop(store), await createShop(store)];
    for (const shop of shops) await storeInOldSchema(write, shop, records);
    const stored = await readSums(write, shops[0]!.id);
    assert.notDeepEqual(stored, []);

    await write.begin(async (tx) => {
      await tx.script(migrationText(expanding));
      await tx`insert into schema_migrations values (29, ${expanding}, now())`;
    });
    assert.deepEqual(await readSums(write, shops[0]!.id), stored);
    // The functions are still those of the version before.
    await write`
        update subscriptions set current_price = current_price + 1
        where shop_id = ${shops[1]!.id} and subscription_id % 2 = 0`;

    await whileMigrating(migrationText(filling), async () => {
      const { analyse } = store.primary;
      assert.deepEqual(await readSums(analyse, shops[0]!.id), stored);
    });

    assert.equal((await migrate(write))[0], filling);
    for (const shop of shops) {
      assert.deepEqual([...(await findLedgerDifferences(write, shop.id))], []);
      assert.notDeepEqual(await listCohorts(write, shop, { months: 36, now: at }), []);
      const differing = await write.begin((tx) => findFigureDifferences(tx, shop, at));
      assert.deepEqual(differing, []);
    }
  });
});
