import { type Sql, type Transaction, withTimeout } from '../../../store/database.ts';

export interface ShopifyShop {
  readonly shopId: number;
  /** In lower case. */
  readonly domain: string;
}

/**
 * Notes which domain belongs to which shop, so that webhooks still find it when its credentials are gone.
 * A shop that does not exist (any more) is left out. A domain that has gone to another shop goes with it. A
 * shop whose domain has changed starts afresh: the uninstall belonged to the former domain.
 */
export async function linkShopifyShops(sql: Sql, shops: readonly ShopifyShop[]): Promise<void> {
  for (const { shopId, domain } of shops) {
    await sql.begin(async (tx) => {
      await tx`delete from shopify.shops where domain = ${domain} and shop_id <> ${shopId}`;
      await tx`
        insert into shopify.shops (shop_id, domain)
        select shop_id, ${domain} from shops where shop_id = ${shopId}
        on conflict (shop_id) do update
        set domain = excluded.domain, uninstalled_at = null, uninstalled_by = null,
          reinstalled_at = null
        where shopify.shops.domain <> excluded.domain`;
    });
  }
}

export interface LinkedShop {
  readonly shopId: number;
  /** The last event that uninstalled the app, also where the app has come back since. */
  readonly uninstalledBy: string | null;
}

export async function findShopifyShop(sql: Sql, domain: string): Promise<LinkedShop | undefined> {
  const [found] = await withTimeout(sql<LinkedShop[]>`
      select shop_id as "shopId", uninstalled_by as "uninstalledBy"
      from shopify.shops where domain = ${domain}`);
  return found;
}

/** Since when the app is uninstalled at Shopify; null while it is not, and where nothing is known. */
export async function findUninstall(sql: Sql, shopId: number): Promise<Date | null> {
  const [found] = await sql<{ at: Date | null }[]>`
    select uninstalled_at as at from shopify.shops where shop_id = ${shopId}`;
  return found?.at ?? null;
}

interface Installation {
  readonly domain: string;
  readonly uninstalledAt: Date | null;
  readonly reinstalledAt: Date | null;
}

/** Whether the app is installed; it stays so until the transaction ends. */
export async function lockInstallation(
  tx: Transaction,
  shopId: number,
): Promise<Installation | undefined> {
  const [found] = await tx<Installation[]>`
    select domain, uninstalled_at as "uninstalledAt", reinstalled_at as "reinstalledAt"
    from shopify.shops where shop_id = ${shopId} for update`;
  return found;
}

/** @returns false where the shop is not known to be one of Shopify's */
export async function noteUninstall(
  tx: Transaction,
  shopId: number,
  eventId: string,
  at: Date,
): Promise<boolean> {
  const result = await tx`
    update shopify.shops set uninstalled_at = ${at}, uninstalled_by = ${eventId}
    where shop_id = ${shopId}`;
  return result.count === 1;
}

/** @returns whether the app was uninstalled until now */
export async function noteInstall(sql: Sql, shopId: number, at: Date): Promise<boolean> {
  const result = await sql`
    update shopify.shops set uninstalled_at = null, reinstalled_at = ${at}
    where shop_id = ${shopId} and uninstalled_at is not null`;
  return result.count === 1;
}

/**
 * Remembers for good, in the transaction that does it, that a destructive event was handled.
 * @returns false where it was handled before, or the shop is gone
 */
export async function insertHandledEvent(
  tx: Transaction,
  shopId: number,
  eventId: string,
  at: Date,
): Promise<boolean> {
  const result = await tx`
    insert into shopify.handled_events (event_id, handled_at)
    select ${eventId}, ${at} from shops where shop_id = ${shopId} on conflict do nothing`;
  return result.count === 1;
}

/** Deletes what is kept of a shop besides what every shop has. */
export async function forgetShop(tx: Transaction, shopId: number): Promise<void> {
  await tx`delete from shopify_syncs where shop_id = ${shopId}`;
  await tx`delete from shopify.data_requests where shop_id = ${shopId}`;
  await tx`delete from shopify.shops where shop_id = ${shopId}`;
}
