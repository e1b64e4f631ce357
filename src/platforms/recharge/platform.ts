import type { Platform } from '../platform.ts';

/** Recharge Subscriptions, read with an API token. */
export const recharge: Platform = {
  name: 'recharge',
  title: 'Recharge',
  settings: { name: 'recharge', baseUrl: 'RECHARGE_API_URL' },
  examples: ['{"token":"sk_1x1_…"}'],
  form: {
    about:
      'Connect your Recharge store, and its subscriptions and payments arrive by themselves and stay up to date.',
    steps: [
      'In Recharge, open Apps, API tokens, and create a token with read access to Store information, Subscriptions and Orders, and to nothing else.',
      'Paste it here. A scope that is missing is named as Recharge calls it.',
    ],
    fields: [
      {
        name: 'token',
        label: 'API token',
        hint: 'It is stored encrypted, and never shown again.',
        isSecret: true,
      },
    ],
    secretName: 'token',
  },
  accountOf: ({ account }) => String(account),
  // Each shop takes the subscriptions in its currency.
  sharesAccounts: true,
  credentialFields: {
    token: {
      expected: 'an API token of Recharge, of letters, digits and "_"',
      fits: (value) => typeof value === 'string' && /^\w{20,200}$/.test(value),
    },
  },
  findBelonging: async (sql, shopId) =>
    (await import('../../store/feeds/streams.ts')).findBelonging(sql, shopId, 'recharge'),
  sourceIdOf: () => undefined,
  pageOf(kind, sourceId, account = '') {
    const path = { customer: sourceId, subscription: `${sourceId}/details` }[String(kind)];
    const [, store] = /^([\w-]+)\.myshopify\.com$/.exec(account) ?? [];
    return path !== undefined && store !== undefined && /^\d+$/.test(sourceId)
      ? `https://${store}-sp.admin.rechargeapps.com/merchant/${kind}s/${path}`
      : undefined;
  },
  load: async () => (await import('./code.ts')).rechargeCode,
};
