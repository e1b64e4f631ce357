import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { generateShop } from '../../src/demo/generate.ts';
import { findLedgerDifferences } from '../../src/metrics/verify/sums.ts';
import { summariseMetrics } from '../../src/metrics/summary.ts';
import { type Store, connectAll } from '../../src/store/open.ts';
import { type PostgresServer, findPostgresPrograms, requirePostgres } from '../support/postgres.ts';
import { createShop, importAll } from '../support/world.ts';

const skip = findPostgresPrograms() === undefined && 'PostgreSQL is not available on this machine';
const endAt = Date.parse('2026-11-20T12:00:00.000Z');
const records = [
  ...generateShop({ subscriptions: 80, seed: 2, endAt, currency: 'USD', minorDigits: 2 }),
];

describe('the aggregates behind the figures', { skip, timeout: 600_000 }, () => {
  let server: PostgresServer;
  let store: Store;
  before(async () => {
    server = await requirePostgres(['fsync=off']);
    store = connectAll(server.url);
  });
  after(async () => {
    await store.close();
    await server.destroy();
  });

  test('truncating tables empties the aggregates', async () => {
    const { write } = store;
    const shop = await createShop(store);
    await importAll(store, shop, records);
    const [cases] = await write`select count(*) as count from dunning_cases`;
    assert.notEqual(cases?.['count'], 0);
    assert.deepEqual([...(await findLedgerDifferences(write, shop.id))], []);
    assert.notEqual((await summariseMetrics(write, shop.id, endAt)).activeSubscribers, 0);

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

  test('deleting a shop deletes its aggregates', async () => {
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
      'price_changes',
      'superseded_facts',
      'metric_shops',
    ]) {
      const rows = await write`select from ${write.unsafe(table)} where shop_id = ${shop.id}`;
      assert.deepEqual([table, rows.length], [table, 0]);
    }
  });
});
