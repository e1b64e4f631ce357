import { FixedClock } from '../../../src/clock.ts';
import { importShopOf } from '../../../src/ingest/apply.ts';
import type { Log } from '../../../src/log/log.ts';
import { openClient } from '../../../src/platforms/stripe/client.ts';
import { StripeSync } from '../../../src/platforms/stripe/sync.ts';
import type { Store } from '../../../src/store/open.ts';
import { upsertConnection } from '../../../src/store/feeds/platforms.ts';
import { findShop } from '../../../src/store/shops.ts';
import type { StripeStandIn } from '../../support/stripe/stand-in.ts';
import { createShop, silentLog } from '../../support/world.ts';

interface Options {
  readonly currency?: string;
  readonly seesCustomers?: boolean;
  readonly key?: string;
  readonly log?: Log;
}

/** No waiting, and the largest that is random. */
const backoff = { wait: async () => {}, random: () => 0.99 };

/** A shop that is synced with an account of the stand-in. */
export async function openSynced(
  store: Store,
  stripe: StripeStandIn,
  clock: FixedClock,
  { currency = 'USD', seesCustomers = true, key = stripe.key, log = silentLog }: Options = {},
) {
  const shop = await createShop(store, { currency });
  const row = await findShop(store.write, shop.id);
  if (!row) throw new Error('There is no such shop.');
  const account = 'acct_1 (test)';
  const client = openClient(key, stripe.baseUrl, { clock, backoff });
  const connectedAt = new Date(clock.now());
  await store.write.begin((tx) =>
    upsertConnection(tx, 'stripe', {
      shopId: shop.id,
      account,
      isShared: true,
      credentials: '',
      connectedAt,
    }),
  );
  const intake = { sql: store.write, shop: importShopOf(row), feed: 'stripe', clock, log };
  const open = () => StripeSync.open({ account, client, seesCustomers }, intake);
  return {
    shop,
    account,
    sync: async (options: { full?: boolean; takeOver?: boolean } = {}) =>
      (await open()).run({ full: false, takeOver: false, ...options }),
    follow: async (kind: string, id: string) => (await open()).follow(kind, id),
  };
}
