import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findLedgerDifferences } from '../../src/metrics/verify/sums.ts';
import { countSessions } from '../../src/metrics/cancel-flow.ts';
import { listCohorts } from '../../src/metrics/cohorts.ts';
import { findFigureDifferences } from '../../src/metrics/verify/figures.ts';
import { generateShop } from '../../src/demo/generate.ts';
import { migrate } from '../../src/store/migrate.ts';
import { onEmptyDatabase } from '../support/empty-database.ts';
import { createReleasedSchema, migrationText } from '../support/migrations.ts';
import { storeInOldSchema } from '../support/old-records.ts';
import { createShop, now } from '../support/world.ts';

const at = Date.parse(now);
const filling = '0046_sessions_by_month.sql';
const records = [
  ...generateShop({ subscriptions: 80, seed: 2, endAt: at, currency: 'USD', minorDigits: 2 }),
];

onEmptyDatabase('the migration to sessions by month', (open, whileMigrating) => {
  test('sums the sessions of every shop, while everything can be read', async () => {
    const store = open();
    const { write } = store;
    await createReleasedSchema(write);
    const shops = [await createShop(store), await createShop(store)];
    for (const shop of shops) {
      await storeInOldSchema(write, shop, records);
      await write`
          insert into cancellation_sessions
          select shop_id, subscription_id, subscription_id, 'other',
            case when subscription_id % 2 = 0 then 'pause' end,
            case when subscription_id % 4 > 0 then 'saved' end, created_at, null, digest
          from subscriptions where shop_id = ${shop.id} and subscription_id % 3 = 0`;
    }
    const months = { months: 12, now: at };
    const cohorts = await listCohorts(write, shops[0]!, months);
    assert.notDeepEqual(cohorts, []);
    await whileMigrating(migrationText(filling), async () => {
      assert.deepEqual(await listCohorts(store.primary.analyse, shops[0]!, months), cohorts);
    });

    assert.equal((await migrate(write))[0], filling);
    for (const shop of shops) {
      assert.deepEqual([...(await findLedgerDifferences(write, shop.id))], []);
      const [stored] = await write<{ sessions: number }[]>`
          select count(*) as sessions from cancellation_sessions where shop_id = ${shop.id}`;
      const counts = await countSessions(write, shop.id, {
        from: 0,
        until: at + 365 * 86_400_000,
      });
      assert.equal(
        counts.reduce((sum, { sessions }) => sum + sessions, 0),
        stored?.sessions,
      );
      assert.ok(counts.some(({ outcome, offer }) => outcome === null && offer === 'pause'));
      assert.deepEqual(await listCohorts(write, shop, months), cohorts);
      const differing = await write.begin((tx) => findFigureDifferences(tx, shop, at));
      assert.deepEqual(differing, []);
    }
  });
});
