/** What the app must be allowed, by Shopify's names, and in words for the shop's owner. */
const scopes = {
  read_own_subscription_contracts: 'subscriptions that this app sells',
  read_products: 'selling plans and their products',
  read_customers: 'customers’ ids, without names or addresses',
  read_orders: 'amounts and refunds of subscriptions’ orders',
} as const;

type Scope = keyof typeof scopes;

export const requiredScopes = Object.keys(scopes) as readonly Scope[];

export const scopesInWords: readonly string[] = Object.values(scopes);
