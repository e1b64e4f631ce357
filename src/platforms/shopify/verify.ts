import { CommandError } from '../../errors.ts';
import type { ConnectedShop } from '../credentials/credentials.ts';
import type { ConnectContext } from '../platform.ts';
import { openClient } from './api/open-client.ts';
import { identity } from './api/queries.ts';
import { requiredScopes } from './scopes.ts';

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
