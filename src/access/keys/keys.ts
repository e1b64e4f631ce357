import type { Act, Actor } from '../../acts.ts';
import type { Log } from '../../log/log.ts';
import type { Sql, Transaction } from '../../store/database.ts';
import { requireSynchronousCommit } from '../../store/failover.ts';
import {
  insertKey,
  lockKey,
  updateKeyNetworks,
  updateRevokedKey,
  updateRevokedKeysOfShop,
  updateRotatedKey,
} from '../../store/keys/keys.ts';
import type { Scope } from '../../vocabulary.ts';
import {
  type Change,
  type SecretKind,
  type SecretParts,
  type Target,
  enter,
  revokeSecret,
  secretIds,
} from '../secrets.ts';
import { generateKey, hashKey } from './key-format.ts';
import { outlives } from './key-policy.ts';

interface NewKey {
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** The networks and addresses that it may be used from; everywhere by default. */
  readonly networks?: readonly string[];
  /** When it expires; null or undefined for never. */
  readonly expiresAt?: Date | null;
}

interface KeyRenewal {
  readonly newId: string;
  readonly newExpiresAt: Date | null;
  readonly overlapMilliseconds: number;
}

/** A key is rotated by creating another one with the same name, scopes and networks, and letting the old one expire. */
export const apiKeys: SecretKind<NewKey, KeyRenewal> = {
  ...secretIds('key', 8),

  async insert(tx, change, key) {
    const { shop, shopId, id, at } = change;
    const life = { createdAt: at, expiresAt: key.expiresAt ?? null };
    if (outlives(shop, life)) return 'outlives';
    const made = { ...key, id, createdBy: change.actor.who, createdAt: at };
    const secret = await storeKey(tx, shopId, made);
    if (secret === undefined) return 'already';
    await enter(tx, change, 'key_created', key.name);
    return { secret };
  },

  async replace(tx, change, { newId, newExpiresAt, overlapMilliseconds }) {
    const { shopId, id: keyId, at } = change;
    const old = await lockKey(tx, shopId, keyId);
    if (!old) return 'ended';
    if (old.replacedBy !== null) return 'already';
    if (old.revokedAt || (old.expiresAt && old.expiresAt <= at)) return 'ended';
    const { name, scopes, networks } = old;
    const successor = { name, scopes, networks, expiresAt: newExpiresAt };
    const made = await apiKeys.insert(tx, { ...change, id: newId }, successor);
    if (typeof made === 'string') return made;
    const overlapEnd = new Date(at.getTime() + overlapMilliseconds);
    const expiresAt = old.expiresAt && old.expiresAt < overlapEnd ? old.expiresAt : overlapEnd;
    await updateRotatedKey(tx, shopId, keyId, { replacedBy: newId, expiresAt });
    await enter(tx, change, 'key_rotated', name);
    if (overlapMilliseconds > 0) {
      return { ...made, line: [{ shopId, keyId, replacedBy: newId, expiresAt }, 'key rotated'] };
    }
    // Revoked explicitly, since the instances' clocks may differ.
    await updateRevokedKey(tx, shopId, keyId, at);
    return { ...made, line: revocationLine({ shopId, keyId, revokedAt: at, cause: 'rotation' }) };
  },

  async revoke(tx, change) {
    const { shopId, id: keyId, actor, at } = change;
    const key = await endKey(tx, change, 'key_revoked');
    if (!key) return undefined;
    const cause = actor.who === 'command line' ? actor.who : 'owner';
    return revocationLine({ shopId, keyId, revokedAt: key.revokedAt ?? at, cause });
  },
};

/** Revokes a key, unless it is revoked already. @returns the key before; undefined if the shop has no such key */
async function endKey(tx: Transaction, change: Change, act: Act, detail?: string) {
  const { shopId, id, at } = change;
  const key = await lockKey(tx, shopId, id);
  if (!key || key.revokedAt) return key;
  await updateRevokedKey(tx, shopId, id, at);
  await enter(tx, change, act, key.name, detail);
  return key;
}

/**
 * Revokes a key that was found in public.
 * @param place where it was found
 * @returns its name; undefined if it was revoked before, or the shop has no such key
 */
export async function revokeLeakedKey(
  parts: SecretParts,
  target: Target,
  place: string,
): Promise<string | undefined> {
  let name: string | undefined;
  const revoke: typeof apiKeys.revoke = async (tx, change) => {
    const { shopId, id: keyId, at: revokedAt } = change;
    const key = await endKey(tx, change, 'key_leaked', `, found at ${place}`);
    if (!key || key.revokedAt) return undefined;
    name = key.name;
    return revocationLine({ shopId, keyId, revokedAt, cause: 'leak' });
  };
  await revokeSecret({ revoke }, parts, target);
  return name;
}

/**
 * Changes from where a key may be used. Every instance is certain to follow only `leaseDrainMilliseconds` later.
 * @returns false if the shop has no such key, or it is revoked
 */
export function setKeyNetworks(
  { sql, clock }: SecretParts,
  target: Target,
  networks: readonly string[],
): Promise<boolean> {
  const change = { ...target, at: new Date(clock.now()) };
  return sql.begin(async (tx) => {
    await requireSynchronousCommit(tx);
    const key = await lockKey(tx, target.shopId, target.id);
    if (!key || key.revokedAt) return false;
    if (await updateKeyNetworks(tx, target.shopId, target.id, networks)) {
      const now = networks.length === 0 ? 'everywhere' : networks.join(', ');
      await enter(tx, change, 'key_networks_set', key.name, `, now ${now}`);
    }
    return true;
  });
}

interface Revocation {
  readonly shopId: number;
  readonly keyId: string;
  readonly revokedAt: Date;
  readonly cause: 'owner' | 'command line' | 'rotation' | 'uninstall' | 'leak';
}

/** Its fields are named as in `keys revoked --json`, so that one script can read both. */
function revocationLine(revocation: Revocation) {
  return [revocation, 'key revoked'] as const;
}

/**
 * Revokes all keys of a shop whose app was uninstalled, and logs it for the owners. Every instance is certain
 * to refuse them only `leaseDrainMilliseconds` after the commit.
 * @param tx a transaction that has called `requireSynchronousCommit`
 * @returns the ids of the revoked keys, for `logUninstall` after the commit
 */
export async function revokeKeysOfShop(
  tx: Transaction,
  shopId: number,
  at: Date,
  actor: Actor,
): Promise<string[]> {
  const revoked = await updateRevokedKeysOfShop(tx, shopId, at);
  for (const { id, name } of revoked) {
    await enter(tx, { shopId, id, actor, at }, 'key_uninstalled', name);
  }
  return revoked.map(({ id }) => id);
}

export function logUninstall(
  log: Log,
  shopId: number,
  keyIds: readonly string[],
  revokedAt: Date,
): void {
  for (const keyId of keyIds) {
    log.info(...revocationLine({ shopId, keyId, revokedAt, cause: 'uninstall' }));
  }
}

interface UnloggedKey extends NewKey {
  readonly id?: string;
  readonly createdBy: string;
  readonly createdAt: Date;
}

/**
 * Creates a key without checking the shop's tier or logging it, for the demo and tests.
 * @returns the key itself, which is stored nowhere and shown only once
 */
export async function createUnloggedKey(
  sql: Sql,
  shopId: number,
  { id = apiKeys.newId(), ...request }: UnloggedKey,
): Promise<{ id: string; key: string }> {
  const key = await storeKey(sql, shopId, { ...request, id });
  if (key === undefined) throw new Error(`Shop ${shopId} already has a key ${id}.`);
  return { id, key };
}

/** @returns the key itself; undefined if the shop already has a key with this id */
async function storeKey(
  sql: Sql | Transaction,
  shopId: number,
  { id: keyId, expiresAt = null, networks = [], ...request }: UnloggedKey & { readonly id: string },
): Promise<string | undefined> {
  const key = generateKey();
  const fingerprint = { hash: hashKey(key), lastFour: key.slice(-4) };
  const isNew = await insertKey(sql, shopId, {
    ...request,
    keyId,
    expiresAt,
    networks,
    ...fingerprint,
  });
  return isNew ? key : undefined;
}
