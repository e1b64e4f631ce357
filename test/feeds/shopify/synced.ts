import { FixedClock } from '../../../src/clock.ts';
import { createShopifyClient } from '../../../src/platforms/shopify/api/client.ts';
import type { SyncedShop } from '../../../src/platforms/shopify/sync/intake.ts';
import type { Backoff } from '../../../src/platforms/backoff.ts';
import { createLog } from '../../../src/log/log.ts';
import type { Store } from '../../../src/store/open.ts';
import { type TestShop, createShop } from '../../support/world.ts';
import { type StandIn, startStandIn } from './stand-in.ts';
import { sampleWorld } from './stand-in-world.ts';

/** Backoff that advance the given clock instead of waiting. */
export function noBackoff(clock: FixedClock): Backoff & { readonly waited: number[] } {
  const waited: number[] = [];
  return {
    waited,
    async wait(milliseconds) {
      waited.push(milliseconds);
      clock.advance(milliseconds);
    },
    random: () => 0.5,
  };
}

export const domain = 'sample-shop.myshopify.com';

/** A shop that is synced from the stand-in, in this process and without waiting. */
export function syncedShop(store: Store, shop: TestShop, standIn: StandIn) {
  const clock = new FixedClock(Date.now());
  const backoff = noBackoff(clock);
  const logLines: string[] = [];
  const log = createLog('debug', { write: (line) => void logLines.push(line) });
  const { accessToken, baseUrl } = standIn;
  const stopping = new AbortController();
  const client = createShopifyClient({
    domain,
    origin: baseUrl,
    accessToken: async () => accessToken,
    clock,
    log,
    backoff,
    signal: stopping.signal,
  });
  const { signal } = stopping;
  const intake = { sql: store.write, shop, feed: 'shopify', clock, log, signal };
  const synced: SyncedShop = { ...intake, client };
  return { synced, clock, backoff, logLines, stopping };
}

/** A new shop and its own stand-in with the samples. @param standIns collects those to close */
export async function beginSync(store: Store, standIns: StandIn[]) {
  const standIn = await startStandIn(sampleWorld());
  standIns.push(standIn);
  const shop = await createShop(store);
  return { standIn, shop, world: standIn.world, ...syncedShop(store, shop, standIn) };
}
