import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { generateShop } from '../../src/demo/generate.ts';
import { countSessions } from '../../src/metrics/cancel-flow.ts';
import { findLedgerDifferences, rebuildMetrics } from '../../src/metrics/verify/sums.ts';
import { findFigureDifferences } from '../../src/metrics/verify/figures.ts';
import { type Store, connectAll } from '../../src/store/open.ts';
import { session } from '../rest/records.ts';
import { newShopId, run } from '../cli/process.ts';
import { onOneDatabase, serverUrl } from '../support/databases.ts';
import { createShop, importAll, now } from '../support/world.ts';

const records = [
  ...generateShop({
    subscriptions: 60,
    seed: 4,
    endAt: Date.parse('2026-11-20T12:00:00.000Z'),
    currency: 'USD',
    minorDigits: 2,
  }),
];

onOneDatabase('the stored metrics of a shop', (open) => {
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

    const oldest = (grain: string, facts: string) => write`
      select shop_id, grain, bucket, fact from metric_ledger
      where shop_id = ${shop.id} and grain = ${grain} and fact like ${facts}
      order by bucket, fact limit 1`;
    const tamperings = [
      [
        'metric_ledger',
        write`
          update metric_ledger set amount = amount + 0.01
          where (shop_id, grain, bucket, fact) in (${oldest('day', 'paid')})`,
      ],
      [
        'metric_ledger',
        write`
          update metric_ledger set count = count + 1
          where (shop_id, grain, bucket, fact) in (${oldest('month', 'cancel_flow saved %')})`,
      ],
      [
        'metric_ledger',
        write`
          delete from metric_ledger
          where (shop_id, grain, bucket, fact) in (${oldest('month', 'cancel_flow cancelled %')})`,
      ],
      [
        'subscriber_changes',
        write`
          update subscriber_changes set live = live + 1
          where shop_id = ${shop.id} and customer_id % 2 = 0`,
      ],
      [
        'dunning_cases',
        write`
          insert into dunning_cases
          select shop_id, max(subscription_id), 99, '2026-01-01Z', null, null
          from subscriptions where shop_id = ${shop.id} group by shop_id`,
      ],
      [
        'subscriptions',
        // Long ago, where the figures of the last 30 days do not show it.
        write`
          update subscriptions
          set saved_at = (saved_at at time zone 'UTC' - interval '1 day') at time zone 'UTC'
          where shop_id = ${shop.id} and subscription_id in (
            select subscription_id from subscriptions
            where shop_id = ${shop.id} and saved_at is not null order by saved_at limit 1)`,
      ],
      [
        'departures',
        write`update departures set age_days = age_days + 1 where shop_id = ${shop.id}`,
      ],
      [
        'price_changes',
        write`update price_changes set became = became + 1 where shop_id = ${shop.id}`,
      ],
      [
        'failed_cycles',
        write`update failed_cycles set is_last = not is_last where shop_id = ${shop.id}`,
      ],
      [
        'superseded_facts',
        write`
          update superseded_facts
          set since = (since at time zone 'UTC' - interval '1 hour') at time zone 'UTC'
          where shop_id = ${shop.id}`,
      ],
    ] as const;
    for (const [table, tampering] of tamperings) {
      assert.notEqual((await tampering).count, 0);
      const tables = (await differences()).map((each) => each.table);
      assert.deepEqual([...new Set(tables)], [table]);
      await rebuildMetrics(write, shop.id);
      assert.deepEqual(await differences(), []);
    }
  });

  test('differ in the figure and in the sum if a sum of cancel-flow sessions is wrong', async () => {
    const { write } = store;
    const shop = await createShop(store);
    const ended = {
      createdAt: '2026-11-10T08:00:00Z',
      detectedReason: 'not_using',
      outcome: 'saved',
    };
    await importAll(store, shop, [session(1, ended), session(2, { ...ended, offerType: 'pause' })]);
    const { count } = await write`
      update metric_ledger set count = count + 2
      where shop_id = ${shop.id} and fact = 'cancel_flow saved not_using pause'`;
    assert.equal(count, 1);
    const figures = await write.begin((tx) => findFigureDifferences(tx, shop, Date.parse(now)));
    assert.deepEqual(figures, [{ figure: 'sessions saved not_using pause', served: 3, plain: 1 }]);
    const sums = await findLedgerDifferences(write, shop.id);
    assert.deepEqual(
      sums.map((each) => [each.stored, each.expected]),
      [['3 0', '1 0']],
    );
    await rebuildMetrics(write, shop.id);
    const { analyse } = store.primary;
    const november = { from: Date.parse('2026-11-01Z'), until: Date.parse('2026-12-01Z') };
    const counts = await countSessions(analyse, shop.id, november);
    assert.deepEqual(
      counts
        .map((each) => `${each.outcome} ${each.reason} ${each.offer} ${each.sessions}`)
        .toSorted(),
      ['saved not_using null 1', 'saved not_using pause 1'],
    );
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
