import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { generateShop } from '../../src/demo/generate.ts';
import { findLedgerDifferences, rebuildMetrics } from '../../src/metrics/check.ts';
import { type Store, connectAll } from '../../src/store/open.ts';
import { newShopId, run } from '../cli/process.ts';
import { onEveryDatabase, serverUrl } from '../support/databases.ts';
import { createShop, importAll } from '../support/world.ts';

const records = [
  ...generateShop({
    subscriptions: 60,
    seed: 4,
    endAt: Date.parse('2026-11-20T12:00:00.000Z'),
    currency: 'USD',
    minorDigits: 2,
  }),
];

onEveryDatabase('the stored metrics of a shop', (open) => {
  let store: Store;
  before(() => {
    store = open();
  });
  after(() => store.close());

  test('differ from the records after tampering, until they are rebuilt', async () => {
    const { write } = store;
    const shop = await createShop(store);
    await importAll(store, shop, records);
    const differences = async () => [...(await findLedgerDifferences(write, shop.id))];
    assert.deepEqual(await differences(), []);

    const tamperings = {
      metric_ledger: write`
        update metric_ledger set amount = amount + 0.01
        where (shop_id, grain, bucket, fact) in (
          select shop_id, grain, bucket, fact from metric_ledger
          where shop_id = ${shop.id} and grain = 'day' and fact = 'paid' order by bucket limit 1)`,
      subscriber_changes: write`
        update subscriber_changes set live = live + 1
        where shop_id = ${shop.id} and customer_id % 2 = 0`,
      dunning_cases: write`
        insert into dunning_cases
        select shop_id, max(subscription_id), 99, '2026-01-01Z', null, null
        from subscriptions where shop_id = ${shop.id} group by shop_id`,
      departures: write`update departures set age_days = age_days + 1 where shop_id = ${shop.id}`,
      failed_cycles: write`
        update failed_cycles set is_last = not is_last where shop_id = ${shop.id}`,
      superseded_facts: write`
        update superseded_facts
        set since = (since at time zone 'UTC' - interval '1 hour') at time zone 'UTC'
        where shop_id = ${shop.id}`,
    };
    for (const [table, tampering] of Object.entries(tamperings)) {
      assert.notEqual((await tampering).count, 0);
      const tables = (await differences()).map((each) => each.table);
      assert.deepEqual([...new Set(tables)], [table]);
      await rebuildMetrics(write, shop.id);
      assert.deepEqual(await differences(), []);
    }
  });
});

const DATABASE_URL = serverUrl ?? '';
const skip = DATABASE_URL === '' && 'PostgreSQL is not available on this machine';
const env = { DATABASE_URL, LOG_LEVEL: 'warn' };

test('metrics verify reports differences, and metrics rebuild fixes them', { skip }, async () => {
  const shop = newShopId();
  await run(['shops', 'create', '--id', shop, '--name', 'x', '--currency', 'USD'], { env });
  const input = records.map((record) => JSON.stringify(record)).join('\n');
  await run(['import', '--shop', shop, '-'], { env, input });
  const verify = (...more: string[]) =>
    run(['metrics', 'verify', '--shop', shop, ...more], { env });
  const well = await verify();
  assert.deepEqual([well.code, well.out], [0, `The figures of shop ${shop} match its records.\n`]);

  const { write, close } = connectAll(DATABASE_URL);
  await write`
    update metric_ledger set count = count + 5
    where shop_id = ${shop} and grain = 'all' and fact = 'subscriber'`;
  await close();
  const found = await verify();
  assert.equal(found.code, 1);
  assert.match(found.out, /^FIGURE +SERVED +FROM RECORDS\nactiveSubscribers +\d+ +\d+\n\nTABLE/);
  assert.match(found.out, /\nmetric_ledger +all -infinity subscriber +\d+ 0 +\d+ 0\n$/);
  const { ok, figures, sums } = JSON.parse((await verify('--json')).out);
  assert.deepEqual([ok, figures.length, sums.length], [false, 1, 1]);

  assert.equal((await run(['metrics', 'rebuild', '--shop', shop], { env })).code, 0);
  assert.equal((await verify()).code, 0);
});
