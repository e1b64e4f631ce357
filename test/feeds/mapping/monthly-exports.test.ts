import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { Snapshot } from '../../../src/ingest/snapshot.ts';
import { listCohorts } from '../../../src/metrics/cohorts.ts';
import { summariseMovements, toMovements } from '../../../src/metrics/movements.ts';
import { toSummary } from '../../../src/metrics/figures.ts';
import { summariseMetrics } from '../../../src/metrics/summary.ts';
import { findLedgerDifferences } from '../../../src/metrics/verify/sums.ts';
import type { Store } from '../../../src/store/open.ts';
import { throwawayFolder } from '../../cli/process.ts';
import { randomOf } from '../../metrics/random.ts';
import { dumpShop } from '../../model/dump.ts';
import { onOneDatabase } from '../../support/databases.ts';
import { seed } from '../../support/seed.ts';
import { type TestShop, createShop, importAll, now } from '../../support/world.ts';
import { importMapped, subscriptions } from './mapped.ts';
import {
  createLives,
  csvHeader,
  exportOf,
  exportTime,
  monthStart,
  months,
  plans,
  truthOf,
} from './monthly-shop.ts';

const fields = { planId: 'plan', status: 'status' };
const undated = subscriptions({}, fields);
const dated = subscriptions(
  {
    statusEvents: [
      { when: { status: { is: ['cancelled', 'paused'] } }, at: 'since', to: 'status' },
    ],
  },
  fields,
);

const lives = createLives(seed, 60);

onOneDatabase('monthly exports', (open) => {
  let store: Store;
  before(() => {
    store = open();
  });
  after(() => store.close());

  /** Imports the exports of months in this order. */
  async function importMonths(order: readonly number[], onlyLive: boolean, mapping = undated) {
    const shop = await createShop(store);
    await importAll(store, shop, plans);
    const file = path.join(throwawayFolder(), 'export.csv');
    for (const month of order) {
      writeFileSync(file, [csvHeader, ...exportOf(lives, month, onlyLive)].join('\n'));
      const snapshot = new Snapshot({ gone: 'cancelled', allowShrink: true });
      const asOf = new Date(exportTime(month)).toISOString();
      const { refused } = await importMapped(store, shop, JSON.stringify(mapping), file, {
        asOf,
        ...(onlyLive && { snapshot }),
      });
      assert.deepEqual(refused, []);
      if (onlyLive) assert.equal(snapshot.outcome?.kind, 'cancelled');
    }
    assert.deepEqual([...(await findLedgerDifferences(store.write, shop.id))], []);
    return shop;
  }

  async function figuresOf(shop: TestShop) {
    const sql = store.write;
    const perMonth = [];
    for (const month of months.slice(1)) {
      const [from, until] = [monthStart(month), monthStart(month + 1)];
      const movements = await summariseMovements(sql, shop.id, { from, until });
      // The last 30 days are the month without its first day, in which nothing happens.
      const isLong = until - from === 31 * 86_400_000;
      const summary = toSummary(await summariseMetrics(sql, shop.id, until), shop.currency, until);
      const { mrr, activeSubscribers, pausedSubscribers, cancelled30d, churnRate30d } = summary;
      perMonth.push({
        month,
        ...toMovements(movements, shop.currency),
        mrr,
        activeSubscribers,
        pausedSubscribers,
        ...(isLong && { cancelled30d, churnRate30d }),
      });
    }
    return {
      perMonth,
      cohorts: await listCohorts(sql, shop, { months: 16, now: Date.parse(now) }),
    };
  }

  /** The stored records, without what only the order of exports decides, and the shop's key. */
  async function recordsOf({ id }: TestShop) {
    const {
      export_dates: _numbers,
      snapshot_dates: _exports,
      customer_keys: _key,
      ...dump
    } = await dumpShop(store.write, id);
    return dump;
  }

  const random = randomOf(seed);
  const shuffled = (list: readonly number[]) =>
    list
      .map((each) => ({ each, by: random.integer(1_000_000) }))
      .toSorted((a, b) => a.by - b.by)
      .map(({ each }) => each);
  const orders = [months.toReversed(), shuffled(months), shuffled([...months, ...months])];

  for (const [title, onlyLive, mapping] of [
    ['of all rows without dates', false, undated],
    ['of live rows only', true, undated],
    ['of all rows with dates', false, dated],
    ['of live rows only, with dates', true, dated],
  ] as const) {
    test(`${title} give the figures that are true, in whatever order`, async () => {
      const truth = await createShop(store);
      await importAll(store, truth, [
        ...plans,
        ...truthOf(lives, { onlyLive, hasDates: mapping === dated }),
      ]);
      const expected = await figuresOf(truth);
      for (const movement of ['new', 'paused', 'resumed', 'cancelled', 'reactivated'] as const) {
        assert.ok(
          expected.perMonth.some((month) => month[movement] > 0),
          movement,
        );
      }
      assert.ok(expected.perMonth.filter(({ cancelled }) => cancelled > 0).length > 6);

      const inOrder = await importMonths(months, onlyLive, mapping);
      assert.deepEqual(await figuresOf(inOrder), expected);
      const records = await recordsOf(inOrder);
      for (const order of orders) {
        const shop = await importMonths(order, onlyLive, mapping);
        assert.deepEqual(await recordsOf(shop), records, `in the order ${order.join(' ')}`);
      }
    });
  }

  test('with dates tell the day of each cancellation', async () => {
    const shop = await importMonths(shuffled(months), false, dated);
    const rows = await store.write<{ id: number; at: Date }[]>`
      select subscription_id as id, at from status_events
      where shop_id = ${shop.id} and to_status = 'cancelled' order by subscription_id, at`;
    const expected = lives.flatMap(({ id, changes }) =>
      changes.flatMap(({ at, to }) =>
        to === 'cancelled' && exportTime(0) < at ? [{ id, at: new Date(at) }] : [],
      ),
    );
    assert.ok(expected.length > 20);
    const later = rows.filter(({ at }) => at.getTime() > exportTime(0));
    assert.deepEqual([...later], expected);
  });
});
