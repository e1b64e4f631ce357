import assert from 'node:assert/strict';
import { FixedClock } from '../../src/clock.ts';
import { generateShop } from '../../src/demo/generate.ts';
import type { Store } from '../../src/store/open.ts';
import { createShop, importAll } from '../support/world.ts';
import { run } from './process.ts';

/** A shop with generated records of the time until an instant, in epoch milliseconds. */
export async function createFilledShop(store: Store, subscriptions: number, endAt: number) {
  const shop = await createShop(store);
  const options = { subscriptions, seed: 5, currency: 'USD', minorDigits: 2, endAt };
  await importAll(store, shop, [...generateShop(options)], false, new FixedClock(endAt));
  return shop;
}

/** Runs a command, which must exit with a status. */
export async function runTo(
  status: number,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<{ readonly out: string; readonly err: string }> {
  const { code, out, err } = await run(args, { env });
  assert.equal(code, status, err);
  return { out, err };
}
