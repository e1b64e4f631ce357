import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { generateShop } from '../../src/demo/generate.ts';
import { findLedgerDifferences } from '../../src/metrics/check.ts';
import { summariseFromRecords } from '../../src/metrics/plain.ts';
import { summariseMetrics } from '../../src/metrics/summary.ts';
import { migrate } from '../../src/store/migrate.ts';
import { type Store, connectAll } from '../../src/store/open.ts';
import { migrateBefore, migrationText, readWhileMigrating } from '../support/migrations.ts';
import { type PostgresServer, findPostgresPrograms, startPostgres } from '../support/postgres.ts';
import { storeInOldSchema } from '../support/old-records.ts';
import { createShop, importAll } from '../support/world.ts';

const skip = findPostgresPrograms() === undefined && 'PostgreSQL is not available on this machine';
const endAt = Date.parse('2026-11-20T12:00:00.000Z');
const records = [
  ...generateShop({ subscriptions: 80, seed: 2, endAt, currency: 'USD', minorDigits: 2 }),
];

describe('the migration that adds the aggregates', { skip, timeout: 600_000 }, () => {
  let server: PostgresServer;
  let store: Store;
  before(async () => {
    const started = await startPostgres(['fsync=off'], { isNew: true });
    assert.ok(started);
    server = started;
    store = { ...connectAll(server.url), failed: new Promise(() => {}) };
  });
  after(async () => {
    await store.close();
    await server.destroy();
  });

  /** Runs all of a migration but its last part, and reads before it is committed. */
  async function isReadableDuring(name: string, end: RegExp, reading: () => Promise<unknown>) {
    const [first = '', last] = migrationText(name).split(end);
    assert.notEqual(last, undefined);
    await readWhileMigrating(store.write, first, reading);
  }

  test('fills them from existing records without blocking readers; truncating tables empties them', async () => {
    const {
      write,
      primary: { keys: read },
    } = store;
    await migrateBefore(write, '0002_metrics.sql');
    const shop = await createShop(store);
    await storeInOldSchema(write, shop, records);

    await isReadableDuring('0002_metrics.sql', /(?=^drop index payments_by_time;)/m, async () => {
      for (const table of ['shops', 'subscriptions', 'status_events', 'payments', 'refunds']) {
        await read`select count(*) from ${read.unsafe(table)}`;
      }
    });
    await write.begin((tx) => tx.script(migrationText('0002_metrics.sql')));
    await write`insert into schema_migrations values (2, '0002_metrics.sql', now())`;

    await isReadableDuring('0003_minutes.sql', /(?=^drop table metric_ledger;)/m, async () => {
      await read`select count(*) from metric_ledger where shop_id = ${shop.id}`;
    });
    assert.deepEqual((await migrate(write))[0], '0003_minutes.sql');
    const [cases] = await write`select count(*) as count from dunning_cases`;
    assert.notEqual(cases?.['count'], 0);
    assert.deepEqual([...(await findLedgerDifferences(write, shop.id))], []);
    const served = await summariseMetrics(write, shop.id, endAt);
    assert.notEqual(served.activeSubscribers, 0);
    assert.equal(
      served.activeSubscribers,
      (await summariseFromRecords(write, shop.id, endAt)).activeSubscribers,
    );

    await write`truncate payments cascade`;
    assert.deepEqual([...(await findLedgerDifferences(write, shop.id))], []);
    assert.equal((await summariseMetrics(write, shop.id, endAt)).paid, '0');
    await write`truncate subscriptions cascade`;
    assert.deepEqual([...(await findLedgerDifferences(write, shop.id))], []);
    const emptied = await summariseMetrics(write, shop.id, endAt);
    assert.deepEqual([emptied.activeSubscribers, emptied.atRisk, emptied.dunningActive], [0, 0, 0]);
  });

  test('a writer with a snapshot older than another commit fails instead of computing wrong sums', async () => {
    const { write } = store;
    await migrate(write);
    const shop = await createShop(store);
    await importAll(store, shop, records.slice(0, 40));
    const late = write.begin('isolation level repeatable read', async (tx) => {
      await tx`select 1 from shops`;
      await write`
        update subscriptions set current_price = current_price + 1 where shop_id = ${shop.id}`;
      await tx`update subscriptions set next_billing_at = null
        where shop_id = ${shop.id} and false`;
      await tx`insert into cancellation_sessions
        values (${shop.id}, 999999, null, 'other', null, null, now(), null,
          '00000000-0000-0000-0000-000000000000')`;
    });
    await assert.rejects(late, { code: '40001' });
    assert.deepEqual([...(await findLedgerDifferences(write, shop.id))], []);
  });

  test('deleting a shop deletes them', async () => {
    const { write } = store;
    const shop = await createShop(store);
    await importAll(store, shop, records);
    await write.begin(async (tx) => {
      for (const table of [
        'cancellation_sessions',
        'subscriptions',
        'customers',
        'plans',
        'feeds',
        'shops',
      ])
        await tx`delete from ${tx.unsafe(table)} where shop_id = ${shop.id}`;
    });
    for (const table of [
      'metric_ledger',
      'subscriber_changes',
      'failed_cycles',
      'departures',
      'superseded_facts',
      'metric_shops',
    ]) {
      const rows = await write`select from ${write.unsafe(table)} where shop_id = ${shop.id}`;
      assert.deepEqual([table, rows.length], [table, 0]);
    }
  });
});
