import assert from 'node:assert/strict';
import { findLedgerDifferences } from '../../src/metrics/verify/sums.ts';
import type { Store } from '../../src/store/open.ts';
import { runs } from '../support/seed.ts';
import { createShop } from '../support/world.ts';
import { instantOf } from './instants.ts';
import { type Random, randomOf } from './random.ts';
import { preparePlans, writeSomething } from './writers.ts';

const day = 24 * 3_600_000;
const { numRuns: worlds, seed: firstSeed } = runs(8);

let shops: Promise<readonly number[]> | undefined;

/** Shops of random records, most of them of many, with any start of what is kept by hour. */
async function createShops(store: Store): Promise<readonly number[]> {
  const ids: number[] = [];
  for (let world = 0; world < worlds; world += 1) {
    const random = randomOf(firstSeed + world);
    const { id } = await createShop(store);
    const hoursSince = random.oneOf(['1970-01-01Z', '2026-10-30Z', '2026-11-21Z', 'infinity']);
    await store.write`insert into metric_shops values (${id}, ${hoursSince})`;
    await preparePlans(store.write, id);
    const batches = world % 4 === 3 ? 16 : 60;
    for (let batch = 0; batch < batches; batch += 1)
      await writeSomething(store.write, [id], random);
    assert.deepEqual([...(await findLedgerDifferences(store.write, id))], []);
    ids.push(id);
  }
  return ids;
}

/**
 * Random instants of shops of random records. All tests of a process share the shops, which take longer to make than to
 * check, so a check leaves them as they are.
 * @param seed of the instants
 */
export async function eachInstant(
  store: Store,
  seed: number,
  check: (shopId: number, random: Random, now: number, where: string) => Promise<void>,
): Promise<void> {
  for (const [world, shopId] of (await (shops ??= createShops(store))).entries()) {
    const random = randomOf(firstSeed + seed + world);
    for (let time = 0; time < 16; time += 1) {
      const now = instantOf(random);
      await check(shopId, random, now, `world ${world}, now ${new Date(now).toISOString()}`);
    }
  }
}

/** Any interval until a time or before it. */
export function windowOf(random: Random, now: number) {
  const until = Math.min(now, random.oneOf([now, instantOf(random)]));
  const length = random.chance(0.2) ? random.integer(3_600_000) : random.integer(80 * day);
  return { from: until - 1 - length, until, now };
}
