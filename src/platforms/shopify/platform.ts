import { firstOwnNumber } from '../../own-number.ts';
import { isSafeAddress } from '../../config/platform-config.ts';
import type { RecordKind } from '../../store/records/export-dates.ts';
import type { Platform } from '../platform.ts';
import { formatGid, domainPattern, parseGid } from './api/ids.ts';

/** GID types by the kind of record that is made from them. */
const gidTypes: Partial<Readonly<Record<RecordKind, string>>> = {
  plan: 'SellingPlan',
  subscription: 'SubscriptionContract',
  customer: 'Customer',
  payment: 'SubscriptionBillingAttempt',
  refund: 'Refund',
};

const types = ['plan', 'subscription', 'payment', 'refund'] as const;

const isText = (value: unknown, pattern: RegExp) =>
  typeof value === 'string' && pattern.test(value);

export const shopify: Platform = {
  name: 'shopify',
  title: 'Shopify',
  settings: {
    name: 'shopify',
    credentialsFile: 'SHOPIFY_CREDENTIALS_FILE',
    webhookSecrets: {
      variable: 'SHOPIFY_CLIENT_SECRET',
      expected:
        "the app's client secret, at least 16 characters without spaces; during rotation, the new and the old one, separated by a comma",
    },
    clientId: 'SHOPIFY_CLIENT_ID',
    baseUrl: 'SHOPIFY_BASE_URL',
    pointsShare: 'SHOPIFY_POINTS_SHARE',
  },
  examples: [
    '{"domain":"sample-shop.myshopify.com","accessToken":"shpat_…"}',
    '{"domain":"sample-shop.myshopify.com","clientId":"…","clientSecret":"…"}',
  ],
  accountOf: ({ domain }) => String(domain),
  credentialKinds: [['accessToken'], ['clientId', 'clientSecret']],
  credentialFields: {
    domain: {
      expected: 'text such as "sample-shop.myshopify.com"',
      isUnique: true,
      fits: (value) => isText(value, domainPattern),
    },
    accessToken: {
      expected:
        "the app's access token for the Admin API, which begins with shpat_ or another shp…_",
      fits: (value) => value === undefined || isText(value, /^shp[a-z]{2,3}_[\w-]{8,500}$/),
    },
    clientId: {
      expected: "the app's client id, letters and digits",
      fits: (value) => value === undefined || isText(value, /^[\w-]{16,128}$/),
    },
    clientSecret: {
      expected: "the app's client secret, at least 16 characters without spaces",
      fits: (value) => value === undefined || isText(value, /^\S{16,500}$/),
    },
    // For a proxy, or a stand-in in tests.
    baseUrl: {
      expected: 'left out, or an https:// address (http:// on this machine only)',
      fits: (value) =>
        value === undefined || (typeof value === 'string' && isSafeAddress(URL.parse(value))),
    },
  },
  webhooks: {
    queues: { hints: 'hints', duties: 'duties' },
    open: async (context) => (await import('./webhooks/open.ts')).openShopifyWebhooks(context),
  },
  async openFiles() {
    const { readBulkResults } = await import('./bulk/records.ts');
    return (files, shop, progress) => readBulkResults(files, shop, { progress });
  },
  async findBelonging(sql, shopId) {
    const { findShopifySync } = await import('./store/syncs.ts');
    const sync = await findShopifySync(sql, shopId);
    if (!sync?.reconciledAt) return undefined;
    const { listBrought } = await import('../../store/feeds/streams.ts');
    const brought = new Set((await listBrought(sql, shopId)).flatMap((source) => source.types));
    return { account: sync.domain, types: types.filter((type) => !brought.has(type)) };
  },
  sourceIdOf(kind, id) {
    const type = gidTypes[kind];
    return type === undefined || id >= firstOwnNumber
      ? undefined
      : formatGid({ type, key: String(id) });
  },
  pageOf(kind, sourceId, account = '') {
    const [, store] = /^([\w-]+)\.myshopify\.com$/.exec(account) ?? [];
    const { type, key } = parseGid(sourceId) ?? {};
    return kind === 'customer' && type === gidTypes.customer && store !== undefined
      ? `https://admin.shopify.com/store/${store}/customers/${key}`
      : undefined;
  },
  loadCommands: async () => (await import('./commands.ts')).shopifyCommands,
  load: async () => (await import('./code.ts')).shopifyCode,
};
