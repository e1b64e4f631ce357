import { type KeyRequest, createKeyOnce, newKeyId } from './create-key.ts';
import type { Scope } from '../scopes.ts';
import { type Tier, tiers } from '../tiers.ts';
import type { Clock } from '../../clock.ts';
import type { Log } from '../../log.ts';
import type { Sql, Transaction } from '../../store/database.ts';
import { requireSynchronousCommit } from '../../store/failover.ts';
import { lockKey, replaceKey, revokeKey, revokeKeysOfShop } from '../../store/keys/keys.ts';
import { insertLogEntry } from '../../store/keys/key-log.ts';
import { findShop } from '../../store/shops.ts';
import { logRevocation, logRotation } from './revocation-log.ts';

/** Whoever makes or ends a key: an owner, or the command line. */
export type Actor = { readonly ownerId: string } | 'command line';

const ownerIdOf = (actor: Actor) => (actor === 'command line' ? null : actor.ownerId);
/** What the key says of its maker: never an e-mail address, which stays apart from the shops' data. */
const makerOf = (actor: Actor) => (actor === 'command line' ? actor : `owner ${actor.ownerId}`);

interface KeyWish {
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** Chosen before, so that the same wish makes one key, however often it comes. */
  readonly id?: string;
  readonly expiresAt?: Date | null;
}

interface Issued {
  readonly kind: 'made';
  readonly key: string;
}

type NotIssued =
  /** The id is taken. */
  | { readonly kind: 'already' }
  /** The shop's tier has no API access, so no key is made. */
  | { readonly kind: 'locked'; readonly tier: Tier };

/** Creates every new key, rotated ones included, so that the tier is checked in one place. */
async function issueKey(
  tx: Transaction,
  shopId: number,
  keyId: string,
  request: KeyRequest,
): Promise<Issued | NotIssued> {
  const shop = await findShop(tx, shopId);
  if (!shop) throw new Error(`There is no shop ${shopId}.`);
  if (!tiers[shop.tier].hasApiAccess) return { kind: 'locked', tier: shop.tier };
  const key = await createKeyOnce(tx, shopId, keyId, request);
  return key === undefined ? { kind: 'already' } : { kind: 'made', key };
}

/** Makes a key and logs who did. */
export async function makeKey(
  sql: Sql,
  clock: Clock,
  shopId: number,
  actor: Actor,
  { name, scopes, id = newKeyId(), expiresAt = null }: KeyWish,
): Promise<(Issued & { readonly id: string }) | NotIssued> {
  const at = new Date(clock.now());
  return sql.begin(async (tx) => {
    const request = { name, scopes, createdBy: makerOf(actor), createdAt: at, expiresAt };
    const issued = await issueKey(tx, shopId, id, request);
    if (issued.kind !== 'made') return issued;
    const ownerId = ownerIdOf(actor);
    await insertLogEntry(tx, shopId, {
      at,
      ownerId,
      action: 'key_created',
      keyId: id,
      keyName: name,
    });
    return { ...issued, id };
  });
}

/** What ending a key needs. */
interface KeyEnding {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Ends a key and logs who did, once. It is certain to be refused everywhere only
 * `leaseDrainMilliseconds` later.
 * @returns false where the shop has no such key
 */
export async function endKey(
  { sql, clock, log }: KeyEnding,
  shopId: number,
  actor: Actor,
  keyId: string,
): Promise<boolean> {
  const at = new Date(clock.now());
  const revokedAt = await sql.begin(async (tx) => {
    // Also for a key that is revoked already: the first attempt may have been cut short while it waited.
    await requireSynchronousCommit(tx);
    const key = await lockKey(tx, shopId, keyId);
    if (!key) return null;
    if (key.revokedAt) return key.revokedAt;
    await revokeKey(tx, shopId, keyId, at);
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
  | (Issued & {
      readonly name: string;
      readonly scopes: readonly Scope[];
      /** When the old key ends. */
      readonly endsAt: Date;
    })
  | { readonly kind: 'ended' }
  | NotIssued;

interface Rotation {
  readonly keyId: string;
  /** Of the key that is made; chosen before, so that the same wish makes one. */
  readonly newId: string;
  readonly newExpiresAt: Date | null;
  /** How long both work; after 0 the old one is certain to be refused only `leaseDrainMilliseconds` later. */
  readonly overlapMilliseconds: number;
}

/** Makes a key with the name and scopes of another, which ends after an overlap. */
export async function rotateKey(
  { sql, clock, log }: KeyEnding,
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
    const issued = await issueKey(tx, shopId, newId, {
      name,
      scopes,
      createdBy: makerOf(actor),
      createdAt: at,
      expiresAt: newExpiresAt,
    });
    if (issued.kind !== 'made') return issued;
    const overlapEnd = new Date(at.getTime() + overlapMilliseconds);
    const endsAt = old.expiresAt && old.expiresAt < overlapEnd ? old.expiresAt : overlapEnd;
    await replaceKey(tx, shopId, keyId, { replacedBy: newId, expiresAt: endsAt });
    // Not by the clocks of all instances, which may differ a little.
    if (overlapMilliseconds === 0) await revokeKey(tx, shopId, keyId, at);
    const entry = { at, ownerId, keyName: name };
    await insertLogEntry(tx, shopId, { ...entry, action: 'key_rotated', keyId });
    await insertLogEntry(tx, shopId, { ...entry, action: 'key_created', keyId: newId });
    return { ...issued, name, scopes, endsAt };
  });
  if (rotated.kind !== 'made') return rotated;
  if (overlapMilliseconds === 0) {
    logRevocation(log, { shopId, keyId, revokedAt: at, cause: 'rotation' });
  } else logRotation(log, { shopId, keyId, replacedBy: newId, expiresAt: rotated.endsAt });
  return rotated;
}

/**
 * Ends all keys of a shop whose app was uninstalled, and notes it for the owners. They are certain to be
 * refused everywhere only `leaseDrainMilliseconds` after the commit.
 * @param tx one that has called `requireSynchronousCommit`
 * @returns the ids of those that it ended, for `logUninstall` after the commit
 */
export async function endKeysOfShop(tx: Transaction, shopId: number, at: Date): Promise<string[]> {
  const ended = await revokeKeysOfShop(tx, shopId, at);
  for (const { id, name } of ended) {
    const entry = { at, ownerId: null, keyId: id, keyName: name };
    await insertLogEntry(tx, shopId, { ...entry, action: 'key_uninstalled' });
  }
  return ended.map(({ id }) => id);
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
