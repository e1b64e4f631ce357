import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { recoveryFromRecords } from '../../src/metrics/verify/figures.ts';
import { findLedgerDifferences } from '../../src/metrics/verify/sums.ts';
import { summariseFromRecords } from '../../src/metrics/segments/summary.ts';
import type { MetricsRow } from '../../src/metrics/facts.ts';
import { summariseMetrics } from '../../src/metrics/summary.ts';
import { monthBefore } from '../../src/metrics/bounds.ts';
import { listHistory } from '../../src/metrics/history.ts';
import type { Store } from '../../src/store/open.ts';
import { onOneDatabase } from '../support/databases.ts';
import { type TestShop, createShop, importAll, now } from '../support/world.ts';
import { listCases } from './cases.ts';
import { troubledCases, troubledRecords } from './troubled.ts';

const at = Date.parse(now);
const figures = ({ dunningActive, dunningRecovered, dunningClosed }: MetricsRow) => ({
  dunningActive,
  dunningRecovered,
  dunningClosed,
});

onOneDatabase('dunning cases', (open) => {
  let store: Store;
  before(() => {
    store = open();
  });
  after(() => store.close());

  async function assertRight(shop: TestShop) {
    assert.deepEqual(await listCases(store.write, shop.id), troubledCases);
    const expected = { dunningActive: 1, dunningRecovered: 1, dunningClosed: 3 };
    assert.deepEqual(figures(await summariseMetrics(store.write, shop.id, at)), expected);
    assert.deepEqual(figures(await summariseFromRecords(store.write, shop.id, at)), expected);
    const plain = await recoveryFromRecords(store.write, shop.id, monthBefore(at), at);
    assert.deepEqual(
      [plain.outstanding.length, plain.closed.map(({ result }) => result).toSorted()],
      [1, ['lost', 'lost', 'recovered']],
    );
    assert.deepEqual([...(await findLedgerDifferences(store.write, shop.id))], []);
    const recovered = (await listHistory(store.primary, shop, monthBefore(at))).filter(
      (each) => each.recoveredPayments > 0,
    );
    assert.deepEqual(
      recovered.map((each) => [each.day, each.recoveredPayments]),
      [['2026-11-09', 1]],
    );
  }

  test('open for subscriptions that have not ended, whatever the order of records', async () => {
    const shop = await createShop(store);
    assert.deepEqual((await importAll(store, shop, troubledRecords)).refused, []);
    await assertRight(shop);
    const other = await createShop(store);
    for (const record of [troubledRecords[0] as object, ...troubledRecords.slice(1).toReversed()]) {
      await importAll(store, other, [record]);
    }
    // Payments came before their subscriptions and were rejected.
    assert.deepEqual((await importAll(store, other, troubledRecords)).refused, []);
    await assertRight(other);
  });

  test('open and close when a subscription becomes live again, however it is written', async () => {
    const shop = await createShop(store);
    await importAll(store, shop, troubledRecords);
    const of = async (id: number) =>
      (await listCases(store.write, shop.id)).filter((each) => each.startsWith(`${id} `));
    assert.deepEqual(await of(1), []);
    await store.write`
      insert into status_events values (${shop.id}, 1, 1, '2026-11-03Z', 'cancelled', 'active')`;
    assert.deepEqual(await of(1), ['1 2026-11-05 00:00:00']);
    await store.write`
      update status_events set at = '2026-11-05Z'
      where shop_id = ${shop.id} and subscription_id = 1 and position = 1`;
    assert.deepEqual(await of(1), []);
    await store.write`
      delete from status_events
      where shop_id = ${shop.id} and subscription_id = 3 and to_status = 'active'`;
    assert.deepEqual(await of(3), []);
    assert.deepEqual([...(await findLedgerDifferences(store.write, shop.id))], []);
  });
});
