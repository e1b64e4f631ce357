import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { findLedgerDifferences, rebuildMetrics } from '../../src/metrics/check.ts';
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
import { randomOf } from './random.ts';
import { preparePlans, writeSomething } from './writers.ts';

/** More runs find more, but the suite should be fast. A failure prints its seed. */
const { numRuns: worlds, seed: firstSeed } = runs(6);
const batches = 6;

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

  async function compare(shopId: number, instants: readonly number[], what: string) {
    for (const instant of instants) {
      assert.deepEqual(
        canonical(await summariseMetrics(store.primary.analyse, shopId, instant)),
        canonical(await summariseFromRecords(store.write, shopId, instant)),
        `${what}, at ${new Date(instant).toISOString()}`,
      );
    }
  }

  test('matches its definition at any instant, for any writes, sequential or concurrent', async () => {
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
          const instants = [1, 2, 3, 4].map(() => instantOf(random));
          await compare(shopId, instants, `seed ${seed}, batch ${batch}`);
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
