import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { generateShop } from '../../src/demo/generate.ts';
import {
  type DaysAfter,
  daysAfter,
  listPriceGroups,
} from '../../src/metrics/explain/price-changes.ts';
import { findLedgerDifferences } from '../../src/metrics/verify/sums.ts';
import type { Store } from '../../src/store/open.ts';
import { onEveryDatabase } from '../support/databases.ts';
import { createShop, importAll, now } from '../support/world.ts';
import { at, repriced, repricedRecords } from './price-records.ts';

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
    await send(...repricedRecords);
    const groups = (within: DaysAfter) =>
      listPriceGroups(
        store.primary.analyse,
        shop.id,
        { from: Date.parse(at('07-01')), until: Date.parse(at('11-20')) },
        within,
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
      // 9 × 20 + 40, and 9 × 2 + 4.
      count: 10,
      was: '220',
      added: '22',
    };
    assert.deepEqual([...(await groups('30'))], [{ ...group, left: 2, lost: '44' }]);
    assert.deepEqual([...(await groups('60'))], [{ ...group, left: 3, lost: '66' }]);
    assert.deepEqual([...(await groups('90'))], [{ ...group, left: 3, lost: '66' }]);
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
    const [group] = await groups('30');
    assert.deepEqual([group?.count, group?.left, group?.lost], [10, 1, '22']);
    await send({ type: 'delete', record: 'subscription', id: 1 });
    assert.deepEqual([...(await groups('30'))], []);
    assert.deepEqual([...(await findLedgerDifferences(store.write, shop.id))], []);
  });

  test('are what the records of a generated shop say, read one by one', async () => {
    const shop = await createShop(store);
    const options = { subscriptions: 700, seed: 5, currency: 'USD', minorDigits: 2 };
    const records = [...generateShop({ ...options, endAt: Date.parse(now) })];
    assert.deepEqual((await importAll(store, shop, records)).refused, []);
    const isLive = (status: string) => status === 'active' || status === 'paused';
    const changes = records.flatMap((record) => {
      if (record.type !== 'subscription') return [];
      const { planId, status, trialEndsAt, statusEvents, valueEvents } = record;
      const steps = [{ at: record.createdAt, to: 'active' }, ...(statusEvents ?? [])] as const;
      const [first, changed] = valueEvents ?? [];
      if (!first || !changed || changed.at <= (trialEndsAt ?? '')) return [];
      if (steps.findLast(({ at: then }) => (then ?? '') <= changed.at)?.to !== 'active') return [];
      const [was, became] = [Number(first.mrr), Number(changed.mrr)];
      const left = steps[steps.findLastIndex(({ to }) => isLive(to)) + 1];
      const hasLeft = left && ['cancelled', 'failed'].includes(status ?? '');
      const days = hasLeft
        ? (Date.parse(left.at ?? '') - Date.parse(changed.at)) / 86_400_000
        : Infinity;
      const key = `${changed.at.slice(0, 10)} ${planId} ${became > was}`;
      return [{ key, was, added: became - was, days, lost: became }];
    });
    const sum = (values: readonly number[]) => values.reduce((total, each) => total + each, 0);
    const cents = (value: number) => Math.round(value * 100);
    const period = { from: Date.parse(now) - 365 * 86_400_000, until: Date.parse(now) };
    for (const within of daysAfter) {
      const expected = [...Map.groupBy(changes, ({ key }) => key)]
        .filter(([, some]) => some.length >= 10)
        .map(([key, some]) => {
          const left = some.filter(({ days }) => days < Number(within));
          const [was, added, lost] = [
            sum(some.map((each) => each.was)),
            sum(some.map((each) => each.added)),
            sum(left.map((each) => each.lost)),
          ].map(cents);
          return { key, count: some.length, was, added, left: left.length, lost };
        });
      const found = await listPriceGroups(store.primary.analyse, shop.id, period, within);
      assert.deepEqual(
        found.map((each) => ({
          key: `${new Date(each.day).toISOString().slice(0, 10)} ${each.planId} ${each.isRise}`,
          count: each.count,
          was: cents(Number(each.was)),
          added: cents(Number(each.added)),
          left: each.left,
          lost: cents(Number(each.lost)),
        })),
        expected,
      );
      assert.ok(expected.length === 1 && (expected[0]?.left ?? 0) > 0);
    }
  });
});
