import { type KeyRequest, createKeyWithId, newKeyId } from './create-key.ts';
import { tiers } from '../tiers.ts';
import type { Clock } from '../../clock.ts';
import type { Log } from '../../log/log.ts';
import type { Sql, Transaction } from '../../store/database.ts';
import { requireSynchronousCommit } from '../../store/failover.ts';
import {
  lockKey,
  updateRevokedKey,
  updateRevokedKeysOfShop,
  updateRotatedKey,
} from '../../store/keys/keys.ts';
import { insertLogEntry } from '../../store/keys/key-log.ts';
import { findShop } from '../../store/shops.ts';
import { logRevocation, logRotation } from './revocation-log.ts';
import type { Scope, Tier } from '../../vocabulary.ts';

/** Who creates or revokes a key: an owner, or the command line. */
export type Actor = { readonly ownerId: string } | 'command line';

const ownerIdOf = (actor: Actor) => (actor === 'command line' ? null : actor.ownerId);
/** What is stored with the key; never an email address, which stays separate from the shops' data. */
const creatorOf = (actor: Actor) => (actor === 'command line' ? actor : `owner ${actor.ownerId}`);

interface KeyOptions {
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** Chosen by the caller, so that a repeated request creates only one key. */
  readonly id?: string;
  readonly expiresAt?: Date | null;
  /** Shows the new key. If that fails, none is created. */
  readonly show?: (id: string, key: string) => Promise<void>;
}

interface Created {
  readonly kind: 'created';
  readonly key: string;
}

type NotCreated =
  /** The id is taken. */
  | { readonly kind: 'already' }
  /** The shop's tier has no API access. */
  | { readonly kind: 'locked'; readonly tier: Tier };

/** Used for every new key, including rotated ones, so that the tier is checked in one place. */
async function createKeyIfAllowed(
  tx: Transaction,
  shopId: number,
  keyId: string,
  request: KeyRequest,
): Promise<Created | NotCreated> {
  const shop = await findShop(tx, shopId);
  if (!shop) throw new Error(`Shop ${shopId} does not exist.`);
  if (!tiers[shop.tier].hasApiAccess) return { kind: 'locked', tier: shop.tier };
  const key = await createKeyWithId(tx, shopId, keyId, request);
  return key === undefined ? { kind: 'already' } : { kind: 'created', key };
}

/** Creates a key and logs who did it. */
export async function createKey(
  sql: Sql,
  clock: Clock,
  shopId: number,
  actor: Actor,
  { name, scopes, id = newKeyId(), expiresAt = null, show }: KeyOptions,
): Promise<(Created & { readonly id: string }) | NotCreated> {
  const at = new Date(clock.now());
  return sql.begin(async (tx) => {
    const request = { name, scopes, createdBy: creatorOf(actor), createdAt: at, expiresAt };
    const created = await createKeyIfAllowed(tx, shopId, id, request);
    if (created.kind !== 'created') return created;
    const ownerId = ownerIdOf(actor);
    await insertLogEntry(tx, shopId, {
      at,
      ownerId,
      action: 'key_created',
      keyId: id,
      keyName: name,
    });
    await show?.(id, created.key);
    return { ...created, id };
  });
}

interface KeyContext {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Revokes a key and logs who did it, once. Every instance is certain to refuse it only
 * `leaseDrainMilliseconds` later.
 * @returns false if the shop has no such key
 */
export async function revokeKey(
  { sql, clock, log }: KeyContext,
  shopId: number,
  actor: Actor,
  keyId: string,
): Promise<boolean> {
  const at = new Date(clock.now());
  const revokedAt = await sql.begin(async (tx) => {
    // Also for a key that is already revoked: the first attempt may have been interrupted while it waited.
    await requireSynchronousCommit(tx);
    const key = await lockKey(tx, shopId, keyId);
    if (!key) return null;
    if (key.revokedAt) return key.revokedAt;
    await updateRevokedKey(tx, shopId, keyId, at);
    const ownerId = ownerIdOf(actor);
    await insertLogEntry(tx, shopId, {
      at,
      ownerId,
      action: 'key_revoked',
      keyId,
      keyName: key.name,
    });
    return at;
  });
  if (revokedAt === null) return false;
  const cause = actor === 'command line' ? actor : 'owner';
  logRevocation(log, { shopId, keyId, revokedAt, cause });
  return true;
}

type Rotated =
  | (Created & {
      readonly name: string;
      readonly scopes: readonly Scope[];
      /** When the old key expires. */
      readonly endsAt: Date;
    })
  | { readonly kind: 'ended' }
  | NotCreated;

interface Rotation {
  readonly keyId: string;
  /** The new key's id, chosen by the caller, so that a repeated request creates only one key. */
  readonly newId: string;
  readonly newExpiresAt: Date | null;
  /** How long both keys work. With 0, the old key may work for up to `leaseDrainMilliseconds` more. */
  readonly overlapMilliseconds: number;
}

/** Creates a key with the same name and scopes as another one, which expires after an overlap. */
export async function rotateKey(
  { sql, clock, log }: KeyContext,
  shopId: number,
  actor: Actor,
  { keyId, newId, newExpiresAt, overlapMilliseconds }: Rotation,
): Promise<Rotated> {
  const at = new Date(clock.now());
  const ownerId = ownerIdOf(actor);
  const rotated = await sql.begin(async (tx): Promise<Rotated> => {
    await requireSynchronousCommit(tx);
    const old = await lockKey(tx, shopId, keyId);
    if (!old) return { kind: 'ended' };
    if (old.replacedBy !== null) return { kind: 'already' };
    if (old.revokedAt || (old.expiresAt && old.expiresAt <= at)) return { kind: 'ended' };
    const { name, scopes } = old;
    const created = await createKeyIfAllowed(tx, shopId, newId, {
      name,
      scopes,
      createdBy: creatorOf(actor),
      createdAt: at,
      expiresAt: newExpiresAt,
    });
    if (created.kind !== 'created') return created;
    const overlapEnd = new Date(at.getTime() + overlapMilliseconds);
    const endsAt = old.expiresAt && old.expiresAt < overlapEnd ? old.expiresAt : overlapEnd;
    await updateRotatedKey(tx, shopId, keyId, { replacedBy: newId, expiresAt: endsAt });
    // Revoked explicitly, since the instances' clocks may differ.
    if (overlapMilliseconds === 0) await updateRevokedKey(tx, shopId, keyId, at);
    const entry = { at, ownerId, keyName: name };
    await insertLogEntry(tx, shopId, { ...entry, action: 'key_rotated', keyId });
    await insertLogEntry(tx, shopId, { ...entry, action: 'key_created', keyId: newId });
    return { ...created, name, scopes, endsAt };
  });
  if (rotated.kind !== 'created') return rotated;
  if (overlapMilliseconds === 0) {
    logRevocation(log, { shopId, keyId, revokedAt: at, cause: 'rotation' });
  } else logRotation(log, { shopId, keyId, replacedBy: newId, expiresAt: rotated.endsAt });
  return rotated;
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
): Promise<string[]> {
  const revoked = await updateRevokedKeysOfShop(tx, shopId, at);
  for (const { id, name } of revoked) {
    const entry = { at, ownerId: null, keyId: id, keyName: name };
    await insertLogEntry(tx, shopId, { ...entry, action: 'key_uninstalled' });
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
    logRevocation(log, { shopId, keyId, revokedAt, cause: 'uninstall' });
  }
}
