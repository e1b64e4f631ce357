import assert from 'node:assert/strict';
import { findLedgerDifferences } from '../../src/metrics/verify/sums.ts';
import type { Store } from '../../src/store/open.ts';
import { runs } from '../support/seed.ts';
import { createShop } from '../support/world.ts';
import { instantOf } from './instants.ts';
import { type Random, randomOf } from './random.ts';
import { preparePlans, writeSomething } from './writers.ts';

const day = 24 * 3_600_000;
const { numRuns: worlds, seed: firstSeed } = runs(10);

/** Random instants of shops of random records, with any start of what is kept by hour. */
export async function eachInstant(
  store: Store,
  { seeds, batches }: { readonly seeds: number; readonly batches: number },
  check: (shopId: number, random: Random, now: number, where: string) => Promise<void>,
): Promise<void> {
  for (let seed = firstSeed + seeds; seed < firstSeed + seeds + worlds; seed += 1) {
    const random = randomOf(seed);
    const shop = await createShop(store);
    const hoursSince = random.oneOf(['1970-01-01Z', '2026-10-30Z', '2026-11-21Z', 'infinity']);
    await store.write`insert into metric_shops values (${shop.id}, ${hoursSince})`;
    await preparePlans(store.write, shop.id);
    for (let batch = 0; batch < batches; batch += 1) {
      await writeSomething(store.write, [shop.id], random);
    }
    assert.deepEqual([...(await findLedgerDifferences(store.write, shop.id))], []);
    for (let time = 0; time < 12; time += 1) {
      const now = instantOf(random);
      await check(shop.id, random, now, `seed ${seed}, now ${new Date(now).toISOString()}`);
    }
  }
}

/** Any interval until a time or before it. */
export function windowOf(random: Random, now: number) {
  const until = Math.min(now, random.oneOf([now, instantOf(random)]));
  const length = random.chance(0.2) ? random.integer(3_600_000) : random.integer(80 * day);
  return { from: until - 1 - length, until, now };
}
