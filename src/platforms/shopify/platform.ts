import { firstOwnNumber } from '../../own-number.ts';
import type { RecordKind } from '../../store/records/tables.ts';
import type { Platform } from '../platform.ts';
import { formatGid } from './api/gid.ts';

/** Unencrypted, a token may be sent only to this machine. */
function isSafeAddress(url: URL | null): boolean {
  if (!url || url.username !== '' || url.search !== '' || url.hash !== '') return false;
  const isHere = ['127.0.0.1', '[::1]', 'localhost'].includes(url.hostname);
  return url.protocol === 'https:' || (url.protocol === 'http:' && isHere);
}

/** GID types by the kind of record that is made from them. */
const gidTypes: Partial<Readonly<Record<RecordKind, string>>> = {
  plan: 'SellingPlan',
  subscription: 'SubscriptionContract',
  customer: 'Customer',
  payment: 'SubscriptionBillingAttempt',
  refund: 'Refund',
};

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
  },
  credentialFields: {
    domain: {
      expected: 'text such as "sample-shop.myshopify.com"',
      isUnique: true,
      fits: (value) =>
        typeof value === 'string' && /^[a-z0-9][a-z0-9-]{0,62}\.myshopify\.com$/.test(value),
    },
    accessToken: {
      expected:
        "the app's access token for the Admin API, which begins with shpat_ or another shp…_",
      fits: (value) => typeof value === 'string' && /^shp[a-z]{2,3}_[\w-]{8,500}$/.test(value),
    },
    // For a proxy, or a stand-in in tests.
    baseUrl: {
      expected: 'left out, or an https:// address (http:// on this machine only)',
      fits: (value) =>
        value === undefined || (typeof value === 'string' && isSafeAddress(URL.parse(value))),
    },
  },
  queues: { hints: 'hints', duties: 'duties' },
  sourceIdOf(kind, id) {
    const type = gidTypes[kind];
    return type === undefined || id >= firstOwnNumber
      ? undefined
      : formatGid({ type, key: String(id) });
  },
  load: async () => (await import('./code.ts')).shopifyCode,
};
