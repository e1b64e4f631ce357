import type { PlatformCode } from '../platform.ts';
import { readBulkResults } from './bulk/bulk.ts';
import { connectShopify } from './connection.ts';
import { findUninstall, forgetShop } from './store/shops.ts';
import { openShopifyWebhooks } from './webhooks/open.ts';

export const shopifyCode: PlatformCode = {
  readFiles: (files, shop, progress) => readBulkResults(files, shop, { progress }),
  connect: connectShopify,
  async findPause(sql, shopId) {
    const at = await findUninstall(sql, shopId);
    if (at === null) return undefined;
    return `The app is uninstalled. After it is reinstalled, run "retention shopify reinstalled --shop ${shopId}".`;
  },
  openWebhooks: openShopifyWebhooks,
  forgetShop,
};
