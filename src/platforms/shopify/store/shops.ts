import { type Sql, type Transaction, withTimeout } from '../../../store/database.ts';

export interface ShopifyShop {
  readonly shopId: number;
  /** In lower case. */
  readonly domain: string;
}

/**
 * Stores which domain belongs to a shop, once Shopify has shown that it does; webhooks then find the shop even without
 * its credentials. Ignores a shop that does not exist. A domain that moved to another shop is reassigned. A shop with a
 * new domain counts as installed again, because the uninstall belonged to the old domain.
 */
export async function linkShopifyShop(
  tx: Transaction,
  { shopId, domain }: ShopifyShop,
): Promise<void> {
  // Of two shops that get the domain at the same time, the later one has it.
  const key = `retention domain ${domain}`;
  await tx`select pg_advisory_xact_lock(hashtextextended(${key}, 0))`;
  await tx`delete from shopify.shops where domain = ${domain} and shop_id <> ${shopId}`;
  await tx`
    insert into shopify.shops (shop_id, domain)
    select shop_id, ${domain} from shops where shop_id = ${shopId}
    on conflict (shop_id) do update
    set domain = excluded.domain, uninstalled_at = null, uninstalled_by = null,
      reinstalled_at = null
    where shopify.shops.domain <> excluded.domain`;
}

/** Stores that a shop has the app, whatever was heard of an uninstall before. */
export async function noteInstalled(tx: Transaction, shop: ShopifyShop, at: Date): Promise<void> {
  await linkShopifyShop(tx, shop);
  await markReinstalled(tx, shop.shopId, at);
}

/** The same for a shop that has no domain yet, and a domain that no shop has; otherwise nothing changes. */
export async function linkConnectedShop(sql: Sql, { shopId, domain }: ShopifyShop): Promise<void> {
  await sql`
    insert into shopify.shops (shop_id, domain)
    select shop_id, ${domain} from shops where shop_id = ${shopId}
    on conflict do nothing`;
}

export interface LinkedShop {
  readonly shopId: number;
  /** The last uninstall event, even if the app was reinstalled since. */
  readonly uninstalledBy: string | null;
}

export async function findShopifyShop(sql: Sql, domain: string): Promise<LinkedShop | undefined> {
  const [found] = await withTimeout(sql<LinkedShop[]>`
      select shop_id as "shopId", uninstalled_by as "uninstalledBy"
      from shopify.shops where domain = ${domain}`);
  return found;
}

/** When the app was uninstalled; null if it is installed or unknown. */
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

/** Locks the installation state until the transaction ends. */
export async function lockInstallation(
  tx: Transaction,
  shopId: number,
): Promise<Installation | undefined> {
  const [found] = await tx<Installation[]>`
    select domain, uninstalled_at as "uninstalledAt", reinstalled_at as "reinstalledAt"
    from shopify.shops where shop_id = ${shopId} for update`;
  return found;
}

/** @returns false if the shop is not linked to Shopify */
export async function markUninstalled(
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

/** The next sync reads everything: nothing is known of the time in between. @returns false if the app was not uninstalled */
export async function markReinstalled(
  sql: Sql | Transaction,
  shopId: number,
  at: Date,
): Promise<boolean> {
  await sql`update shopify_syncs set payments_watermark = null where shop_id = ${shopId}`;
  const result = await sql`
    update shopify.shops set uninstalled_at = null, reinstalled_at = ${at}
    where shop_id = ${shopId} and uninstalled_at is not null`;
  return result.count === 1;
}

/**
 * Records permanently that a destructive event was handled. Call it in the transaction that handles
 * the event.
 * @returns false if it was handled before, or the shop no longer exists
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

/** A customer's request for their stored data. */
export interface DataRequest {
  readonly shopId: number;
  readonly requestId: string;
  readonly customerId: number;
  readonly receivedAt: Date;
}

/** Stores a request. Ignores duplicates, and shops that no longer exist. */
export async function insertDataRequest(sql: Sql, request: DataRequest): Promise<void> {
  const { shopId, requestId, customerId, receivedAt } = request;
  await sql`
    insert into shopify.data_requests (shop_id, request_id, customer_id, received_at)
    select shop_id, ${requestId}, ${customerId}, ${receivedAt} from shops where shop_id = ${shopId}
    on conflict do nothing`;
}

/** Oldest first. */
export async function listDataRequests(sql: Sql, shopId: number): Promise<DataRequest[]> {
  return sql<DataRequest[]>`
    select shop_id as "shopId", request_id as "requestId", customer_id as "customerId",
      received_at as "receivedAt"
    from shopify.data_requests where shop_id = ${shopId} order by received_at, request_id`;
}

export async function deleteDataRequests(
  tx: Transaction,
  shopId: number,
  customerId: number,
): Promise<void> {
  await tx`
    delete from shopify.data_requests where shop_id = ${shopId} and customer_id = ${customerId}`;
}
