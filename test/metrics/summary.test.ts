import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { findLedgerDifferences, rebuildMetrics } from '../../src/metrics/verify/sums.ts';
import { listDays } from '../../src/metrics/history.ts';
import { summariseFromRecords } from '../../src/metrics/segments/summary.ts';
import { add, decimalText, parseDecimal } from '../../src/money.ts';
import type { MetricsRow } from '../../src/metrics/facts.ts';
import { countSubscribers, summariseMetrics } from '../../src/metrics/summary.ts';
import type { Store } from '../../src/store/open.ts';
import { dumpShop } from '../model/dump.ts';
import { onOneDatabase } from '../support/databases.ts';
import { runs } from '../support/seed.ts';
import { plan, subscription } from '../rest/records.ts';
import { createShop, importAll } from '../support/world.ts';
import { about, instantOf } from './instants.ts';
import { type Random, randomOf } from './random.ts';
import { preparePlans, writeSomething } from './writers.ts';

/** More runs find more, but the suite should be fast. A failure prints its seed. */
const { numRuns: worlds, seed: firstSeed } = runs(6);
const batches = 6;
const day = 24 * 3_600_000;
const at = (text: string) => `2026-11-${text}:00.000Z`;
const iso = (time: number) => new Date(time).toISOString();

const decimal = (text: string) => (text.includes('.') ? text.replace(/\.?0+$/, '') : text);

/** The sum of decimals of at most six places. */
function totalOf(decimals: readonly string[]): string {
  const total = decimals.map(parseDecimal).reduce(add);
  return decimal(decimalText((total.numerator * 1_000_000n) / total.denominator, 6));
}

/** A canonical form: sums without trailing zeros, without intervals of no value. */
function canonical(row: MetricsRow) {
  return {
    ...row,
    paid: decimal(row.paid),
    refunded: decimal(row.refunded),
    trialValue: decimal(row.trialValue),
    upcomingRenewalsValue: decimal(row.upcomingRenewalsValue ?? ''),
    activeValue: [...Map.groupBy(row.activeValue, ({ unit, count }) => `${count} ${unit}`)]
      .map(([interval, each]) => [interval, totalOf(each.map(({ sum }) => sum))] as const)
      .filter(([, sum]) => sum !== '0')
      .map(([interval, sum]) => `${interval}: ${sum}`)
      .toSorted(),
  };
}

onOneDatabase('the metrics summary', (open) => {
  let store: Store;
  before(() => {
    store = open();
  });
  after(() => store.close());

  async function compare(shopId: number, random: Random, what: string) {
    const now = instantOf(random);
    const present = await summariseMetrics(store.primary.analyse, shopId, now);
    assert.deepEqual(
      canonical(present),
      canonical(await summariseFromRecords(store.write, shopId, now)),
      `${what}, at ${iso(now)}`,
    );
    const untilNow = { from: now - day, until: now };
    assert.equal(
      await countSubscribers(store.primary.analyse, shopId, now, untilNow),
      present.activeSubscribers,
      `${what}, at ${iso(now)}`,
    );
    const until = instantOf(random);
    const from = random.oneOf([
      until - 1,
      until - 1 - random.integer(2 * day),
      Math.min(instantOf(random), until - 1),
      until - 400 * day,
    ]);
    const where = `${what}, from ${iso(from)} to ${iso(until)}`;
    const period = { from, until };
    const row = await summariseMetrics(store.primary.analyse, shopId, until + 1, period);
    assert.equal(row.upcomingRenewals, undefined);
    const plain = await summariseFromRecords(store.write, shopId, until + 1, period);
    assert.deepEqual(canonical(row), canonical(plain), where);
    const subscribers = await countSubscribers(store.primary.analyse, shopId, until + 1, period);
    assert.equal(subscribers, row.activeSubscribers, where);

    const days = await listDays(store.primary.analyse, shopId, period);
    const counts = [
      'newSubscribers',
      'cancelled',
      'failedPayments',
      'dunningRecovered',
      'sessionsSaved',
    ] as const;
    for (const name of counts) {
      const total = days.reduce((sum, each) => sum + each[name], 0);
      assert.equal(total, row[name], `the days of ${name}, ${where}`);
    }
    assert.equal(days.at(-1)?.activeSubscribers, row.activeSubscribers, `at the end, ${where}`);
    for (const figure of ['paid', 'refunded'] as const) {
      const total = totalOf(['0', ...days.map((each) => each[figure])]);
      assert.equal(total, decimal(row[figure]), `the days of ${figure}, ${where}`);
    }
  }

  test('matches its definition at any instant and for any period, for any writes, sequential or concurrent', async () => {
    for (let seed = firstSeed; seed < firstSeed + worlds; seed += 1) {
      const random = randomOf(seed);
      const shopIds = [(await createShop(store)).id, (await createShop(store)).id];
      for (const shopId of shopIds) {
        const hoursSince = random.oneOf(['1970-01-01Z', '2026-10-30Z', 'infinity', 'default']);
        if (hoursSince !== 'default') {
          await store.write`
            insert into metric_shops values (${shopId}, ${hoursSince})`;
        }
        await preparePlans(store.write, shopId);
      }
      for (let batch = 0; batch < batches; batch += 1) {
        const writers = random.oneOf([1, 1, 4]);
        await Promise.all(
          Array.from({ length: writers }, () =>
            writeSomething(store.write, shopIds, randomOf(random.integer(2 ** 31))),
          ),
        );
        for (const shopId of shopIds) {
          for (let time = 0; time < 3; time += 1) {
            await compare(shopId, random, `seed ${seed}, batch ${batch}`);
          }
        }
      }
      for (const shopId of shopIds) {
        const differences = await findLedgerDifferences(store.write, shopId);
        assert.deepEqual([...differences], [], `seed ${seed}`);
        const kept = await dumpShop(store.write, shopId);
        await rebuildMetrics(store.write, shopId);
        assert.deepEqual(await dumpShop(store.write, shopId), kept, `seed ${seed}`);
      }
    }
  });

  test('counts a cycle once in each period in which it failed, however often it failed later', async () => {
    const shop = await createShop(store);
    const failures = ['10T08:00', '10T10:00', '10T14:00', '12T09:00', '12T11:00'].map(
      (time, index) => ({
        type: 'payment',
        id: index + 1,
        subscriptionId: 1,
        cycle: '1',
        status: 'failed',
        amount: '10',
        processedAt: at(time),
      }),
    );
    await importAll(store, shop, [plan(), subscription(1), ...failures]);
    const periods: [string, string, number][] = [
      ['10T00:00', '10T08:00', 0],
      ['10T00:00', '10T09:00', 1],
      ['10T09:00', '10T12:00', 1],
      ['10T10:00', '10T14:00', 1],
      ['10T11:00', '10T12:00', 0],
      ['10T12:00', '11T00:00', 1],
      ['11T00:00', '12T00:00', 0],
      ['10T00:00', '12T09:00', 1],
      ['11T00:00', '12T09:01', 1],
      ['12T00:00', '12T10:00', 1],
      ['10T00:00', '13T00:00', 1],
    ];
    for (const [from, until, expected] of periods) {
      const period = { from: Date.parse(at(from)), until: Date.parse(at(until)) };
      const row = await summariseMetrics(store.primary.analyse, shop.id, about, period);
      assert.equal(row.failedPayments, expected, `${from} to ${until}`);
      const days = await listDays(store.primary.analyse, shop.id, period);
      const total = days.reduce((sum, each) => sum + each.failedPayments, 0);
      assert.equal(total, expected, `the days of ${from} to ${until}`);
    }
  });

  test('a subscription that failed and was cancelled is lost in the period in which it failed', async () => {
    const shop = await createShop(store);
    await importAll(store, shop, [
      plan(),
      subscription(1, {
        status: 'cancelled',
        statusEvents: [
          { at: at('10T08:00'), to: 'failed' },
          { at: at('12T00:00'), to: 'cancelled' },
        ],
      }),
    ]);
    const periods: [string, string, number, number, number][] = [
      ['10T00:00', '10T08:00', 0, 0, 1],
      ['10T00:00', '11T00:00', 0, 1, 1],
      ['11T00:00', '13T00:00', 1, 0, 0],
      ['10T00:00', '13T00:00', 1, 1, 1],
      // At the end it became something else, which is not yet part of the period.
      ['10T00:00', '12T00:00', 0, 1, 1],
    ];
    for (const [from, until, ...expected] of periods) {
      const period = { from: Date.parse(at(from)), until: Date.parse(at(until)) };
      const row = await summariseMetrics(store.primary.analyse, shop.id, about, period);
      const { cancelled, churned, atRisk } = row;
      assert.deepEqual([cancelled, churned, atRisk], expected, `${from} to ${until}`);
      const plain = await summariseFromRecords(store.write, shop.id, about, period);
      assert.deepEqual([plain.cancelled, plain.churned, plain.atRisk], expected, 'plainly');
    }
  });
});
