import type { PlatformCode, ConnectedShop, ConnectContext, Connection, Hint } from '../platform.ts';
import { shopifyAuthorization, verifyShop } from './authorization.ts';
import { findUninstall, noteInstalled } from './store/shops.ts';
import { totalsOf } from '../intake.ts';
import { fetchContract, fetchPlanGroup } from './api/fetch.ts';
import { formatGid } from './api/ids.ts';
import { openClient } from './api/client.ts';
import {
  type SyncedShop,
  deletionOf,
  linesOfContracts,
  linesOfPlanGroup,
  oneBatch,
  storeLines,
  storeNodes,
} from './sync/intake.ts';
import { gonePlans } from './sync/reconcile.ts';
import { claimShop, syncShop } from './sync/sync-shop.ts';

export const shopifyCode: PlatformCode = {
  connect: connectShopify,
  authorization: shopifyAuthorization,
  verify: verifyShop,
  noteConnected: (tx, shopId, domain, at) => noteInstalled(tx, { shopId, domain }, at),
  async findPause(sql, shopId) {
    const at = await findUninstall(sql, shopId);
    if (at === null) return undefined;
    return `The app is uninstalled. After it is reinstalled, connect the shop again, or run "retention shopify reinstalled --shop ${shopId}".`;
  },
};

/** One shop on Shopify. */
export function connectShopify(shop: ConnectedShop, context: ConnectContext): Connection {
  const client = openClient(shop, context);
  const { webhookAddress } = context;
  return {
    account: client.domain,
    usage: () => ({ queries: client.usage.queries, cost: client.usage.cost }),
    sync: (intake, options) => syncShop({ ...intake, client, webhookAddress }, options),
    follow: (intake, hint) => follow({ ...intake, client }, hint),
  };
}

async function follow(synced: SyncedShop, { kind, id }: Hint): Promise<number> {
  const fetchAndStore = followers[kind];
  if (!fetchAndStore) throw new Error(`Unknown kind of hint: ${kind}.`);
  // Records that Shopify does not have will be deleted, so the shop must belong to Shopify.
  await claimShop(synced, false);
  return fetchAndStore(synced, Number(id));
}

type Follow = (synced: SyncedShop, id: number) => Promise<number>;

const followers: Readonly<Record<string, Follow>> = {
  async contract(synced, id) {
    const gid = formatGid({ type: 'SubscriptionContract', key: `${id}` });
    const whole = await fetchContract(synced.client, gid);
    const counts = whole
      ? await storeNodes(synced, linesOfContracts([whole]))
      : await storeLines(synced, oneBatch([deletionOf('subscription', id)]));
    return totalsOf(counts).refused;
  },

  // A stored plan does not name its group, so all stored plans are looked up. There are few.
  async planGroup(synced, id) {
    const gid = formatGid({ type: 'SellingPlanGroup', key: `${id}` });
    const whole = await fetchPlanGroup(synced.client, gid);
    const stored = whole ? await storeNodes(synced, linesOfPlanGroup(whole)) : {};
    const gone = await storeLines(synced, gonePlans(synced, { has: () => false }));
    return totalsOf(stored, gone).refused;
  },
};
