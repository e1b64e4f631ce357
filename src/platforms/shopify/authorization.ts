import { createHmac, timingSafeEqual } from 'node:crypto';
import { PlatformError } from '../errors.ts';
import { realBackoff } from '../backoff.ts';
import type { Authorization, ConnectedShop, ConnectContext } from '../platform.ts';
import { fieldsOf, requestToken } from './api/access-token.ts';
import { originOf, openClient } from './api/client.ts';
import { domainPattern } from './api/ids.ts';
import { CommandError } from '../../errors.ts';
import { identity } from './api/queries.ts';

/** What the app must be allowed, by Shopify's names, and in words for the shop's owner. */
const scopes = {
  read_own_subscription_contracts: 'subscriptions that this app sells',
  read_products: 'selling plans and their products',
  read_customers: 'customers’ ids, without names or addresses',
  read_orders: 'amounts and refunds of subscriptions’ orders',
} as const;

type Scope = keyof typeof scopes;

const requiredScopes = Object.keys(scopes) as readonly Scope[];

const scopesInWords: readonly string[] = Object.values(scopes);

/**
 * Shopify's authorization code grant, by which a shop's owner lets us read their shop.
 * @see https://shopify.dev/docs/apps/build/authentication-authorization/access-tokens/authorization-code-grant
 */
export const shopifyAuthorization: Authorization = {
  scopes: scopesInWords,
  accountLabel: 'Your shop’s Shopify domain',
  accountHint:
    'For example sample-shop.myshopify.com. Shopify shows it in its settings, under Domains.',
  accountProblem: 'This is not a Shopify domain. Enter the one that ends in .myshopify.com.',

  parseAccount(text) {
    const name = text
      .trim()
      .toLowerCase()
      .replace(/^https?:\/\//, '')
      .replace(/^admin\.shopify\.com\/store\//, '')
      .replace(/\/.*$/, '');
    const domain = name.includes('.') ? name : `${name}.myshopify.com`;
    return domainPattern.test(domain) ? domain : undefined;
  },

  addressOf({ account, baseUrl, app, redirectUri, state }) {
    const query = new URLSearchParams({
      client_id: app.clientId,
      scope: requiredScopes.join(','),
      redirect_uri: redirectUri,
      state,
    });
    return `${originOf(account, baseUrl)}/admin/oauth/authorize?${query}`;
  },

  readAnswer(query, secrets) {
    const given = new URLSearchParams(query);
    const [account, code, state, hmac] = ['shop', 'code', 'state', 'hmac'].map((name) => {
      const values = given.getAll(name);
      return values.length === 1 ? values[0] : undefined;
    });
    if (!account || !code || !state || !hmac || !domainPattern.test(account)) return undefined;
    const isSigned = secrets.some((secret) => isSignedWith(secret, query, hmac));
    return isSigned ? { account, code, state } : undefined;
  },

  async exchange(
    { account, code, shop, baseUrl },
    { app, clock, log, signal, backoff = realBackoff },
  ) {
    if (!app) throw new PlatformError('refused', 'SHOPIFY_CLIENT_ID is not set.');
    const askedAt = clock.now();
    const origin = originOf(account, baseUrl);
    const answer = await requestToken(
      { domain: account, origin, log, backoff, signal },
      { client_id: app.clientId, client_secret: app.clientSecret, code, expiring: '1' },
    );
    const { accessToken, refreshToken } = answer;
    // Apps of one's own may get a token that does not end.
    return refreshToken === undefined
      ? { shop, domain: account, accessToken }
      : { shop, domain: account, ...fieldsOf(answer, askedAt) };
  },
};

/** Whether Shopify signed a query: HMAC-SHA256 over its other parameters, sorted, as they are in the address. */
function isSignedWith(clientSecret: string, query: string, hmac: string): boolean {
  const signed = query
    .split('&')
    .filter((part) => !part.startsWith('hmac='))
    .toSorted((one, other) => (nameOf(one) < nameOf(other) ? -1 : 1))
    .join('&');
  const expected = Buffer.from(createHmac('sha256', clientSecret).update(signed).digest('hex'));
  const actual = Buffer.from(hmac);
  return expected.length === actual.length && timingSafeEqual(expected, actual);
}

function nameOf(part: string): string {
  return part.split('=', 1)[0] as string;
}

interface Identity {
  readonly shop: { readonly myshopifyDomain: string; readonly currencyCode: string };
  readonly currentAppInstallation: {
    readonly accessScopes: readonly { readonly handle: string }[];
  };
}

/**
 * Asks Shopify whose credentials they are, and what they may read.
 * @throws CommandError if they are another shop's, or do not suffice
 */
export async function verifyShop(
  shop: ConnectedShop,
  currency: string,
  context: ConnectContext,
): Promise<void> {
  const found = await openClient(shop, context).query<Identity>(identity);
  const { myshopifyDomain, currencyCode } = found.shop;
  if (myshopifyDomain.toLowerCase() !== shop.account) {
    throw new CommandError(
      `These credentials belong to ${myshopifyDomain}, not to ${shop.account}.`,
    );
  }
  if (currencyCode !== currency) {
    throw new CommandError(
      `${shop.account} sells in ${currencyCode}, but shop ${shop.shop} here is in ${currency}. It needs a shop in ${currencyCode}, which the operator of this service can create.`,
    );
  }
  const granted = new Set(found.currentAppInstallation.accessScopes.map(({ handle }) => handle));
  const missing = requiredScopes.filter((scope) => !granted.has(scope));
  if (missing.length > 0) {
    throw new CommandError(
      `The app may not read all that it needs from ${shop.account}. Grant it ${missing.join(', ')}, then connect again.`,
    );
  }
}
