import type { Clock } from '../../../src/clock.ts';
import { importShopOf } from '../../../src/ingest/apply.ts';
import type { Log } from '../../../src/log/log.ts';
import { openClient } from '../../../src/platforms/recharge/client.ts';
import { syncStore } from '../../../src/platforms/recharge/sync.ts';
import { upsertConnection } from '../../../src/store/feeds/platforms.ts';
import type { Store } from '../../../src/store/open.ts';
import { findShop } from '../../../src/store/shops.ts';
import type { RechargeStandIn } from '../../support/recharge/stand-in.ts';
import { createShop, silentLog } from '../../support/world.ts';

interface Options {
  readonly currency?: string;
  readonly token?: string;
  readonly log?: Log;
}

/** A shop that is synced with the stand-in's store. */
export async function openSynced(
  store: Store,
  recharge: RechargeStandIn,
  clock: Clock,
  { currency = 'USD', token = recharge.createToken(), log = silentLog }: Options = {},
) {
  const shop = await createShop(store, { currency });
  const row = await findShop(store.write, shop.id);
  if (!row) throw new Error('There is no such shop.');
  const account = 'beans.example';
  const waits: number[] = [];
  const backoff = { wait: async (time: number) => void waits.push(time), random: () => 0.99 };
  const client = openClient(token, recharge.baseUrl, { clock, backoff });
  const connectedAt = new Date(clock.now());
  await store.write.begin((tx) =>
    upsertConnection(tx, 'recharge', {
      shopId: shop.id,
      account,
      isShared: true,
      credentials: '',
      connectedAt,
    }),
  );
  const intake = { sql: store.write, shop: importShopOf(row), feed: 'recharge', clock, log };
  return {
    shop,
    waits,
    sync: (options: { full?: boolean; takeOver?: boolean } = {}) =>
      syncStore({ account, client, currency: 'USD' }, intake, {
        full: false,
        takeOver: false,
        ...options,
      }),
  };
}
