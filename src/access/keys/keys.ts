import type { Actor } from '../../acts.ts';
import type { Log } from '../../log/log.ts';
import type { Sql, Transaction } from '../../store/database.ts';
import {
  insertKey,
  lockKey,
  updateRevokedKey,
  updateRevokedKeysOfShop,
  updateRotatedKey,
} from '../../store/keys/keys.ts';
import type { Scope } from '../../vocabulary.ts';
import { type SecretKind, enter, secretIds } from '../secrets.ts';
import { generateKey, hashKey } from './key-format.ts';

interface NewKey {
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** When it expires; null or undefined for never. */
  readonly expiresAt?: Date | null;
}

interface KeyRenewal {
  readonly newId: string;
  readonly newExpiresAt: Date | null;
  readonly overlapMilliseconds: number;
}

/** A key is rotated by creating another one with the same name and scopes, and letting the old one expire. */
export const apiKeys: SecretKind<NewKey, KeyRenewal> = {
  ...secretIds('key', 8),

  async insert(tx, change, key) {
    const { shopId, id, at } = change;
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
    const successor = { name: old.name, scopes: old.scopes, expiresAt: newExpiresAt };
    const made = await apiKeys.insert(tx, { ...change, id: newId }, successor);
    if (typeof made === 'string') return made;
    const overlapEnd = new Date(at.getTime() + overlapMilliseconds);
    const expiresAt = old.expiresAt && old.expiresAt < overlapEnd ? old.expiresAt : overlapEnd;
    await updateRotatedKey(tx, shopId, keyId, { replacedBy: newId, expiresAt });
    await enter(tx, change, 'key_rotated', old.name);
    if (overlapMilliseconds > 0) {
      return { ...made, line: [{ shopId, keyId, replacedBy: newId, expiresAt }, 'key rotated'] };
    }
    // Revoked explicitly, since the instances' clocks may differ.
    await updateRevokedKey(tx, shopId, keyId, at);
    return { ...made, line: revocationLine({ shopId, keyId, revokedAt: at, cause: 'rotation' }) };
  },

  async revoke(tx, change) {
    const { shopId, id: keyId, actor, at } = change;
    const key = await lockKey(tx, shopId, keyId);
    if (!key) return undefined;
    if (!key.revokedAt) {
      await updateRevokedKey(tx, shopId, keyId, at);
      await enter(tx, change, 'key_revoked', key.name);
    }
    const cause = actor.who === 'command line' ? actor.who : 'owner';
    return revocationLine({ shopId, keyId, revokedAt: key.revokedAt ?? at, cause });
  },
};

interface Revocation {
  readonly shopId: number;
  readonly keyId: string;
  readonly revokedAt: Date;
  readonly cause: 'owner' | 'command line' | 'rotation' | 'uninstall';
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
  { id: keyId, expiresAt = null, ...request }: UnloggedKey & { readonly id: string },
): Promise<string | undefined> {
  const key = generateKey();
  const fingerprint = { hash: hashKey(key), lastFour: key.slice(-4) };
  const isNew = await insertKey(sql, shopId, { ...request, keyId, expiresAt, ...fingerprint });
  return isNew ? key : undefined;
}
