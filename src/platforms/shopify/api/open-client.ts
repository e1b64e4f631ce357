import type { ConnectedShop } from '../../credentials/credentials.ts';
import { realBackoff } from '../../backoff.ts';
import type { ConnectContext } from '../../platform.ts';
import { AccessToken } from './access-token.ts';
import { type ShopifyClient, createShopifyClient } from './client.ts';
import { requestToken } from './token-endpoint.ts';

/**
 * Where a shop is, without a trailing slash.
 * @param baseUrl replaces Shopify, for a proxy or a stand-in; `{domain}` in it stands for the shop's domain
 */
export function originOf(domain: string, baseUrl: string | undefined): string {
  return (baseUrl ?? 'https://{domain}').replaceAll('{domain}', domain).replace(/\/+$/, '');
}

/** The Admin API of a connected shop, with access tokens that renew themselves. */
export function openClient(
  shop: ConnectedShop,
  { app, clock, log, signal, backoff = realBackoff }: ConnectContext,
): ShopifyClient {
  const { account: domain } = shop;
  const origin = originOf(domain, shop.baseUrl);
  const endpoint = { domain, origin, log, backoff, signal };
  const token = new AccessToken({
    shop,
    app,
    clock,
    log,
    request: (parameters) => requestToken(endpoint, parameters),
  });
  return createShopifyClient({
    domain,
    origin,
    clock,
    log,
    backoff,
    ...(signal && { signal }),
    accessToken: (refused) => token.get(refused),
  });
}
