import { type Sql, type Transaction, withTimeout, arrayText } from '../database.ts';
import { type Scope, type Tier, tierNames } from '../../vocabulary.ts';

/** A key, with what the gate needs to know about its shop. */
export interface KeyRecord {
  readonly shopId: number;
  readonly keyId: string;
  readonly scopes: readonly Scope[];
  readonly tier: Tier;
  /** ISO 4217 code of the shop. */
  readonly currency: string;
  /** Epoch milliseconds from which it is refused; null if it does not expire. */
  readonly expiresAt: number | null;
  /** Refused from now on; known only to count the requests that still come with it. */
  readonly isRevoked: boolean;
  /** The networks and addresses that it may be used from; none for everywhere. */
  readonly networks: readonly string[];
}

/** A key, and the generation of all keys at that time. */
export interface FoundKey extends KeyRecord {
  /** Null if the database has none. */
  readonly generation?: string | null;
}

export interface KeyListing {
  readonly id: string;
  readonly name: string;
  readonly lastFour: string;
  readonly scopes: readonly Scope[];
  readonly networks: readonly string[];
  readonly createdBy: string;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
  readonly revokedAt: Date | null;
  readonly expiresAt: Date | null;
  /** The id of the key that replaces it. */
  readonly replacedBy: string | null;
}

interface NewKey extends Pick<
  KeyListing,
  'name' | 'lastFour' | 'scopes' | 'networks' | 'createdBy' | 'createdAt' | 'expiresAt'
> {
  readonly keyId: string;
  /** SHA-256 in base64. */
  readonly hash: string;
}

/**
 * The only query that does not start from a shop, since it finds the shop (migrations/serving.sql). In no order; omits
 * unknown keys. Includes
 * revoked and expired keys, which the gate refuses.
 * @param hashes SHA-256 in base64
 */
export async function listKeysByHash(
  sql: Sql,
  hashes: readonly string[],
): Promise<{ readonly hash: string; readonly record: FoundKey }[]> {
  const rows = await withTimeout(sql<{ hash: string; record: FoundKey }[]>`
    select key_hash as hash, record from find_keys(${arrayText(hashes)}::text[])`);
  return rows.map(({ hash, record }) => ({ hash, record: withShared(record) }));
}

const lists = new Map<string, readonly Scope[]>();
const noNetworks: readonly string[] = [];

/** The record with values that other records share: copies for thousands of keys do not fit into a processor's caches. */
function withShared(record: FoundKey): FoundKey {
  const { scopes, tier, networks } = record;
  return {
    ...record,
    scopes: lists.getOrInsert(scopes.join(), scopes),
    tier: tierNames.find((name) => name === tier) ?? tier,
    networks: networks.length === 0 ? noNetworks : networks,
  };
}

/** Another one after each change of any key, or of what a shop's keys may do; null if the database has none. */
export async function findKeyGeneration(sql: Sql): Promise<string | null> {
  const [row] = await withTimeout(sql<{ generation: string | null }[]>`
    select find_key_generation() as generation`);
  return row?.generation ?? null;
}

export async function listKeys(sql: Sql, shopId: number): Promise<KeyListing[]> {
  return sql<KeyListing[]>`
    select k.key_id as id, k.name, k.last_four as "lastFour", to_json(k.scopes) as scopes,
      to_json(k.networks) as networks, k.created_by as "createdBy", k.created_at as "createdAt",
      greatest(u.last_used_at, k.last_used_at) as "lastUsedAt", k.revoked_at as "revokedAt",
      k.expires_at as "expiresAt", k.replaced_by as "replacedBy"
    from api_keys k
    left join lateral (
      select last_used_at from key_uses where shop_id = ${shopId} and key_id = k.key_id limit 1
    ) u on true
    where k.shop_id = ${shopId} order by k.created_at, k.key_id`;
}

export interface RevokedKey extends Pick<
  KeyListing,
  'name' | 'revokedAt' | 'expiresAt' | 'replacedBy'
> {
  readonly shopId: number;
  readonly keyId: string;
}

/** Keys of these shops that were revoked, or replaced by rotation, at or after an instant. */
export function listRevokedKeys(
  sql: Sql,
  shopIds: readonly number[],
  since: Date,
): Promise<RevokedKey[]> {
  return sql<RevokedKey[]>`
    select k.*
    from unnest(${arrayText(shopIds)}::bigint[]) requested (shop_id),
      lateral (
        select old.shop_id as "shopId", old.key_id as "keyId", old.name, old.revoked_at as "revokedAt",
          old.expires_at as "expiresAt", old.replaced_by as "replacedBy"
        from api_keys old
        left join lateral (
          select created_at from api_keys
          where shop_id = old.shop_id and key_id = old.replaced_by limit 1
        ) new on true
        where old.shop_id = requested.shop_id
          and (old.revoked_at >= ${since} or new.created_at >= ${since})) k
    order by least(k."revokedAt", k."expiresAt"), k."shopId", k."keyId"`;
}

type LockedKey = Pick<
  KeyListing,
  'name' | 'scopes' | 'networks' | 'revokedAt' | 'expiresAt' | 'replacedBy'
>;

/** Finds a key, revoked or not, and locks it until the transaction ends. */
export async function lockKey(
  tx: Transaction,
  shopId: number,
  keyId: string,
): Promise<LockedKey | undefined> {
  const [key] = await tx<LockedKey[]>`
    select name, to_json(scopes) as scopes, to_json(networks) as networks, revoked_at as "revokedAt", expires_at as "expiresAt",
      replaced_by as "replacedBy"
    from api_keys where shop_id = ${shopId} and key_id = ${keyId} for update`;
  return key;
}

/** Sets a rotated key's successor and its expiry, unless it expires earlier. */
export async function updateRotatedKey(
  tx: Transaction,
  shopId: number,
  keyId: string,
  { replacedBy, expiresAt }: { readonly replacedBy: string; readonly expiresAt: Date },
): Promise<void> {
  await tx`
    update api_keys set replaced_by = ${replacedBy}, expires_at = least(expires_at, ${expiresAt})
    where shop_id = ${shopId} and key_id = ${keyId}`;
}

/** @returns false if the shop already has a key with this id */
export async function insertKey(
  sql: Sql | Transaction,
  shopId: number,
  key: NewKey,
): Promise<boolean> {
  const result = await sql`
    insert into api_keys
      (shop_id, key_id, hash, last_four, name, scopes, created_by, created_at,
        expires_at, networks)
    values (${shopId}, ${key.keyId}, decode(${key.hash}, 'base64'), ${key.lastFour}, ${key.name},
      string_to_array(${key.scopes.join(',')}, ','), ${key.createdBy}, ${key.createdAt},
      ${key.expiresAt}, ${arrayText(key.networks)}::text[])
    on conflict (shop_id, key_id) do nothing`;
  return result.count === 1;
}

/** @returns whether they were others before */
export async function updateKeyNetworks(
  tx: Transaction,
  shopId: number,
  keyId: string,
  networks: readonly string[],
): Promise<boolean> {
  const result = await tx`
    update api_keys set networks = ${arrayText(networks)}::text[]
    where shop_id = ${shopId} and key_id = ${keyId}
      and networks is distinct from ${arrayText(networks)}::text[]`;
  return result.count === 1;
}

/** @returns whether the shop has such a key. The first revocation's date is kept. */
export async function updateRevokedKey(
  sql: Sql | Transaction,
  shopId: number,
  keyId: string,
  at: Date,
): Promise<boolean> {
  const result = await sql`
    update api_keys set revoked_at = coalesce(revoked_at, ${at})
    where shop_id = ${shopId} and key_id = ${keyId}`;
  return result.count === 1;
}

/** @returns the keys that were not revoked before */
export async function updateRevokedKeysOfShop(
  tx: Transaction,
  shopId: number,
  at: Date,
): Promise<Pick<KeyListing, 'id' | 'name'>[]> {
  return tx<Pick<KeyListing, 'id' | 'name'>[]>`
    update api_keys set revoked_at = ${at} where shop_id = ${shopId} and revoked_at is null
    returning key_id as id, name`;
}
