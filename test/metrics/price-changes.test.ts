import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { listPriceGroups } from '../../src/metrics/price-changes.ts';
import { findLedgerDifferences } from '../../src/metrics/verify/sums.ts';
import type { Store } from '../../src/store/open.ts';
import { line, plan, subscription } from '../rest/records.ts';
import { onEveryDatabase } from '../support/databases.ts';
import { createShop, importAll } from '../support/world.ts';

const at = (date: string) => `2026-${date}T09:00:00.000Z`;
const cancelled = (date: string) => ({
  status: 'cancelled',
  statusEvents: [{ at: at(date), to: 'cancelled' }],
});

/** One that has cost so much a month since January, and something else since a day. */
const repriced = (id: number, from: string, to: string, more: object = {}, on = '08-03') =>
  subscription(id, {
    customerId: id,
    createdAt: at('01-01'),
    updatedAt: at('01-01'),
    lines: [{ ...line, quantity: 1, currentPrice: to }],
    valueEvents: [
      { at: at('01-01'), mrr: from },
      { at: at(on), mrr: to },
    ],
    ...more,
  });

onEveryDatabase('price changes', (open) => {
  let store: Store;
  before(() => {
    store = open();
  });
  after(() => store.close());

  const setUp = async () => {
    const shop = await createShop(store);
    const send = async (...records: object[]) =>
      assert.deepEqual((await importAll(store, shop, records)).refused, []);
    await send(
      plan({ id: 11, name: 'Box' }),
      plan({ id: 12, name: 'Tea' }),
      // Nine from 20 to 22, of which one left after 29 days, one after 31, one after 100, and one failed after 5.
      ...[1, 2, 3, 4, 5].map((id) => repriced(id, '20.00', '22.00')),
      repriced(6, '20.00', '22.00', cancelled('09-01')),
      repriced(7, '20.00', '22.00', cancelled('09-03')),
      repriced(8, '20.00', '22.00', cancelled('11-11')),
      repriced(9, '20.00', '22.00', {
        status: 'failed',
        statusEvents: [{ at: at('08-08'), to: 'failed' }],
      }),
      // The tenth has two: 40 to 44.
      repriced(10, '40.00', '44.00'),
      // Less on the same day; of another plan; on another day; paused then; in a trial; gone before.
      repriced(11, '20.00', '18.00'),
      repriced(12, '20.00', '22.00', { planId: 12 }),
      repriced(13, '20.00', '22.00', {}, '08-04'),
      repriced(14, '20.00', '22.00', {
        status: 'paused',
        statusEvents: [{ at: at('08-01'), to: 'paused' }],
      }),
      repriced(15, '20.00', '22.00', { trialEndsAt: at('09-01') }),
      repriced(16, '20.00', '22.00', cancelled('08-02')),
      // Less than a cent a month.
      repriced(17, '20.001', '20.00'),
    );
    const groups = (days: number, now = '11-20') =>
      listPriceGroups(
        store.primary.analyse,
        shop.id,
        { from: Date.parse(at('07-01')), until: Date.parse(at(now)), now: Date.parse(at(now)) },
        days,
      );
    return { shop, send, groups };
  };

  test('of many on one day are a group, with what they added and who left after them', async () => {
    const { shop, groups } = await setUp();
    const group = {
      day: Date.parse('2026-08-03T00:00:00Z'),
      planId: 11,
      planName: 'Box',
      isRise: true,
      // 9 × 20 + 40, and 9 × 22 + 44.
      count: 10,
      was: '220',
      became: '242',
    };
    assert.deepEqual([...(await groups(30))], [{ ...group, left: 2, lost: '44' }]);
    assert.deepEqual([...(await groups(60))], [{ ...group, left: 3, lost: '66' }]);
    assert.deepEqual([...(await groups(90))], [{ ...group, left: 3, lost: '66' }]);
    assert.deepEqual([...(await groups(120))], [{ ...group, left: 4, lost: '88' }]);
    // Who left later has not left yet.
    assert.deepEqual([...(await groups(90, '09-02'))], [{ ...group, left: 2, lost: '44' }]);
    assert.deepEqual([...(await findLedgerDifferences(store.write, shop.id))], []);
  });

  test('follow what their records say later', async () => {
    const { shop, send, groups } = await setUp();
    // One returns, so it has not left; another one is deleted, so that too few are left to judge.
    await send(
      repriced(6, '20.00', '22.00', {
        updatedAt: at('10-01'),
        statusEvents: [
          { at: at('09-01'), to: 'cancelled' },
          { at: at('10-01'), to: 'active' },
        ],
      }),
    );
    const [group] = await groups(30);
    assert.deepEqual([group?.count, group?.left, group?.lost], [10, 1, '22']);
    await send({ type: 'delete', record: 'subscription', id: 1 });
    assert.deepEqual([...(await groups(30))], []);
    assert.deepEqual([...(await findLedgerDifferences(store.write, shop.id))], []);
  });
});
