import { type Sql, type Transaction, answerOf } from './database.ts';

export interface ShopifyShop {
  readonly shopId: number;
  /** In lower case. */
  readonly domain: string;
}

/**
 * Notes which domain belongs to which shop, so that webhooks still find it when its credentials are gone.
 * A shop that does not exist (any more) is left out. A domain that has gone to another shop goes with it.
 */
export async function linkShopifyShops(sql: Sql, shops: readonly ShopifyShop[]): Promise<void> {
  for (const { shopId, domain } of shops) {
    await sql.begin(async (tx) => {
      await tx`delete from shopify.shops where domain = ${domain} and shop_id <> ${shopId}`;
      await tx`
        insert into shopify.shops (shop_id, domain)
        select shop_id, ${domain} from shops where shop_id = ${shopId}
        on conflict (shop_id) do update set domain = excluded.domain
        where shopify.shops.domain <> excluded.domain`;
    });
  }
}

export async function findShopifyShop(sql: Sql, domain: string): Promise<number | undefined> {
  const [found] = await answerOf(
    sql,
    sql<{ shopId: number }[]>`
      select shop_id as "shopId" from shopify.shops where domain = ${domain}`,
  );
  return found?.shopId;
}

/** Since when the app is uninstalled at Shopify; null while it is not, and where nothing is known. */
export async function findUninstall(sql: Sql, shopId: number): Promise<Date | null> {
  const [found] = await sql<{ at: Date | null }[]>`
    select uninstalled_at as at from shopify.shops where shop_id = ${shopId}`;
  return found?.at ?? null;
}

/** @returns false where the same event has said so before */
export async function noteUninstall(
  tx: Transaction,
  shopId: number,
  eventId: string,
  at: Date,
): Promise<boolean> {
  const result = await tx`
    update shopify.shops set uninstalled_at = ${at}, uninstalled_by = ${eventId}
    where shop_id = ${shopId} and uninstalled_by is distinct from ${eventId}`;
  return result.count === 1;
}

/**
 * The event that said otherwise is remembered: sent again, it changes nothing.
 * @returns whether the app was uninstalled until now
 */
export async function noteInstall(sql: Sql, shopId: number): Promise<boolean> {
  const result = await sql`
    update shopify.shops set uninstalled_at = null
    where shop_id = ${shopId} and uninstalled_at is not null`;
  return result.count === 1;
}
