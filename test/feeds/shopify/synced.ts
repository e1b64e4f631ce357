import { FixedClock } from '../../../src/clock.ts';
import { createShopifyClient } from '../../../src/feeds/shopify/client.ts';
import type { SyncedShop } from '../../../src/feeds/shopify/intake.ts';
import type { Pauses } from '../../../src/feeds/shopify/pauses.ts';
import { createLog } from '../../../src/log.ts';
import type { Store } from '../../../src/store/open.ts';
import type { TestShop } from '../../support/world.ts';
import type { StandIn } from './stand-in.ts';

/** Pauses that are over at once by the real clock, and not by the one they move. */
export function noPauses(clock: FixedClock): Pauses & { readonly waited: number[] } {
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

/** A shop that is synchronised from the stand-in, all in this process and without waiting. */
export function syncedShop(store: Store, shop: TestShop, standIn: StandIn) {
  const clock = new FixedClock(Date.now());
  const pauses = noPauses(clock);
  const said: string[] = [];
  const log = createLog('debug', { write: (line) => void said.push(line) });
  const { accessToken, baseUrl } = standIn;
  const stopping = new AbortController();
  const client = createShopifyClient({
    domain,
    accessToken,
    baseUrl,
    clock,
    log,
    pauses,
    signal: stopping.signal,
  });
  const synced: SyncedShop = { client, sql: store.write, shop, clock, log };
  return { synced, clock, pauses, said, stopping };
}
