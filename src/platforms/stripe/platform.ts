import type { Platform } from '../platform.ts';

/** Paddle's subscriptions have the same prefix, and then 26 characters from 01 on. */
const pagedId = /^(?:cus|sub)_(?!01[a-z0-9]{24}$)\w+$/;

/** Stripe Billing, read with a restricted key. */
export const stripe: Platform = {
  name: 'stripe',
  title: 'Stripe',
  settings: { name: 'stripe', baseUrl: 'STRIPE_API_URL' },
  examples: ['{"key":"rk_live_…"}'],
  form: {
    about:
      'Connect your Stripe account, and its subscriptions, plans, payments and refunds arrive by themselves and stay up to date.',
    steps: [
      'In Stripe, open Developers, API keys, and create a restricted key with Read for Accounts, Events, Subscriptions, Invoices, Charges and Refunds, Disputes, Prices, Products and Coupons, and for nothing else.',
      'Paste it here. A permission that is missing is named as Stripe calls it.',
    ],
    fields: [
      {
        name: 'key',
        label: 'Restricted key',
        hint: 'It begins with rk_live_ or rk_test_. It is stored encrypted, and never shown again.',
        isSecret: true,
      },
    ],
    secretName: 'key',
  },
  // In test mode nothing is real, and in each mode an account has other subscriptions.
  accountOf: ({ account, key }) =>
    `${String(account)}${String(key).startsWith('rk_live_') ? '' : ' (test)'}`,
  // Each shop takes the subscriptions in its currency.
  sharesAccounts: 'currencies',
  credentialFields: {
    key: {
      expected:
        'a restricted key, which begins with rk_live_ or rk_test_; a secret key (sk_) is refused, since it could change everything in the account: create a restricted one at dashboard.stripe.com/apikeys that may only read',
      fits: (value) => typeof value === 'string' && /^rk_(?:live|test)_\w{1,250}$/.test(value),
    },
  },
  pushed: {
    queue: 'stripe-hints',
    readHint: async (message) => (await import('./streams.ts')).readHint(message),
  },
  findBelonging: async (sql, shopId) =>
    (await import('../../store/feeds/streams.ts')).findBelonging(sql, shopId, 'stripe'),
  sourceIdOf: () => undefined,
  pageOf(kind, sourceId, account = '') {
    const part = { customer: 'customers', subscription: 'subscriptions' }[String(kind)];
    if (part === undefined || !pagedId.test(sourceId)) return undefined;
    const [, id, test] = /^(acct_\w+)( \(test\))?$/.exec(account) ?? [];
    const parts = [id, test && 'test', part, sourceId];
    return `https://dashboard.stripe.com/${parts.filter(Boolean).join('/')}`;
  },
  load: async () => (await import('./code.ts')).stripeCode,
};
