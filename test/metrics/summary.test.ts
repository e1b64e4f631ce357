import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { findLedgerDifferences, rebuildMetrics } from '../../src/metrics/check.ts';
import { listDays } from '../../src/metrics/history-rows.ts';
import { summariseFromRecords } from '../../src/metrics/plain.ts';
import { add, decimalText, parseDecimal } from '../../src/money.ts';
import type { MetricsRow } from '../../src/metrics/row.ts';
import { summariseMetrics } from '../../src/metrics/summary.ts';
import type { Store } from '../../src/store/open.ts';
import { dumpShop } from '../model/dump.ts';
import { onEveryDatabase } from '../support/databases.ts';
import { runs } from '../support/seed.ts';
import { createShop } from '../support/world.ts';
import { instantOf } from './instants.ts';
import { type Random, randomOf } from './random.ts';
import { preparePlans, writeSomething } from './writers.ts';

/** More runs find more, but the suite should be fast. A failure prints its seed. */
const { numRuns: worlds, seed: firstSeed } = runs(6);
const batches = 6;
const day = 24 * 3_600_000;
const iso = (at: number) => new Date(at).toISOString();

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
    upcomingRenewalsValue: decimal(row.upcomingRenewalsValue ?? ''),
    activeValue: [...Map.groupBy(row.activeValue, ({ unit, count }) => `${count} ${unit}`)]
      .map(([interval, each]) => [interval, totalOf(each.map(({ sum }) => sum))] as const)
      .filter(([, sum]) => sum !== '0')
      .map(([interval, sum]) => `${interval}: ${sum}`)
      .toSorted(),
  };
}

onEveryDatabase('the metrics summary', (open) => {
  let store: Store;
  before(() => {
    store = open();
  });
  after(() => store.close());

  async function compare(shopId: number, random: Random, what: string) {
    const now = instantOf(random);
    assert.deepEqual(
      canonical(await summariseMetrics(store.primary.analyse, shopId, now)),
      canonical(await summariseFromRecords(store.write, shopId, now)),
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
    const plain = await summariseFromRecords(store.write, shopId, until, from);
    const past = { upcomingRenewals: undefined, upcomingRenewalsValue: undefined };
    assert.deepEqual(canonical(row), canonical({ ...plain, ...past }), where);

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
          for (let time = 0; time < 6; time += 1) {
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
});
