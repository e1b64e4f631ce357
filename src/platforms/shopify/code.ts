import type { PlatformCode } from '../platform.ts';
import { shopifyAuthorization } from './authorization.ts';
import { readBulkResults } from './bulk/bulk.ts';
import { connectShopify } from './connection.ts';
import { findUninstall, forgetShop, noteInstalled } from './store/shops.ts';
import { findShopifySync } from './store/syncs.ts';
import { verifyShop } from './verify.ts';
import { openShopifyWebhooks } from './webhooks/open.ts';

export const shopifyCode: PlatformCode = {
  readFiles: (files, shop, progress) => readBulkResults(files, shop, { progress }),
  connect: connectShopify,
  authorization: shopifyAuthorization,
  verify: verifyShop,
  noteConnected: (tx, shopId, domain, at) => noteInstalled(tx, { shopId, domain }, at),
  async findPause(sql, shopId) {
    const at = await findUninstall(sql, shopId);
    if (at === null) return undefined;
    return `The app is uninstalled. After it is reinstalled, connect the shop again, or run "retention shopify reinstalled --shop ${shopId}".`;
  },
  async findBelonging(sql, shopId) {
    const sync = await findShopifySync(sql, shopId);
    return sync?.reconciledAt ? sync.domain : undefined;
  },
  openWebhooks: openShopifyWebhooks,
  forgetShop,
};
