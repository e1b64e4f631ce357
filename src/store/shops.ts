import type { Sql, Transaction } from './database.ts';
import type { Tier } from '../vocabulary.ts';

/** The types of records that may be kept for a time only. Refunds go with their payments. */
export const keptTypes = ['subscription', 'payment', 'cancellation'] as const;
export type KeptType = (typeof keptTypes)[number];
export type KeepMonths = Partial<Readonly<Record<KeptType, number>>>;

export interface KeyPolicy {
  /** After how many days a new key expires, unless its maker chooses; null for never. */
  readonly keyDefaultDays?: number | null | undefined;
  /** After how many days new keys expire at the latest; null for never. */
  readonly keyMaxDays?: number | null | undefined;
}

export interface Shop extends KeyPolicy {
  readonly id: number;
  readonly name: string;
  readonly tier: Tier;
  /** ISO 4217 code. */
  readonly currency: string;
  readonly createdAt: Date;
  /** The address of a customer's page in the owner's own system, with {id} in it. */
  readonly customerLink?: string | null;
  /** For how many months what has ended is kept; all of it, if it is not named. */
  readonly keepMonths?: KeepMonths | null;
  /** Since when it is being deleted. */
  readonly deletingSince?: Date | null;
}

export async function listShops(sql: Sql): Promise<Shop[]> {
  return sql<Shop[]>`
    select shop_id as id, name, tier, currency, created_at as "createdAt", keep_months as "keepMonths"
    from shops order by shop_id`;
}

export async function findShop(sql: Sql | Transaction, shopId: number): Promise<Shop | undefined> {
  const [shop] = await sql<Shop[]>`
    select shop_id as id, name, tier, currency, created_at as "createdAt",
      customer_link as "customerLink", keep_months as "keepMonths",
      key_default_days as "keyDefaultDays", key_max_days as "keyMaxDays",
      deleting_since as "deletingSince"
    from shops where shop_id = ${shopId}`;
  return shop;
}

/** @returns false if the id is taken */
export async function insertShop(sql: Sql | Transaction, shop: Shop): Promise<boolean> {
  const result = await sql`
    insert into shops (shop_id, name, tier, currency, created_at)
    values (${shop.id}, ${shop.name}, ${shop.tier}, ${shop.currency}, ${shop.createdAt})
    on conflict do nothing`;
  return result.count === 1;
}

/** @returns whether it was another one before */
export async function updateShopTier(
  sql: Sql | Transaction,
  shopId: number,
  tier: Tier,
): Promise<boolean> {
  const result = await sql`
    update shops set tier = ${tier} where shop_id = ${shopId} and tier <> ${tier}`;
  return result.count === 1;
}

/** @returns whether it was something else before */
export async function updateKeepMonths(
  sql: Sql | Transaction,
  shopId: number,
  keep: KeepMonths,
): Promise<boolean> {
  const months = Object.keys(keep).length === 0 ? null : JSON.stringify(keep);
  const result = await sql`
    update shops set keep_months = ${months}::jsonb
    where shop_id = ${shopId} and keep_months is distinct from ${months}::jsonb`;
  return result.count === 1;
}

/** @returns whether it was another one before */
export async function updateKeyPolicy(
  sql: Sql | Transaction,
  shopId: number,
  { keyDefaultDays = null, keyMaxDays = null }: KeyPolicy,
): Promise<boolean> {
  const result = await sql`
    update shops set key_default_days = ${keyDefaultDays}, key_max_days = ${keyMaxDays}
    where shop_id = ${shopId} and (key_default_days is distinct from ${keyDefaultDays}
      or key_max_days is distinct from ${keyMaxDays})`;
  return result.count === 1;
}

/** @throws CommandError for a shop that is leaving for another database. While its last step runs, this waits */
export async function requireHere(sql: Sql | Transaction, shopId: number): Promise<void> {
  await sql`select require_here(${shopId})`;
}

export async function updateCustomerLink(
  sql: Sql,
  shopId: number,
  link: string | null,
): Promise<void> {
  await sql.begin(async (tx) => {
    await requireHere(tx, shopId);
    await tx`update shops set customer_link = ${link} where shop_id = ${shopId}`;
  });
}
