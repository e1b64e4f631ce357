import { createKeyOnce, newKeyId } from '../access/create-key.ts';
import type { Scope } from '../access/scopes.ts';
import type { Clock } from '../clock.ts';
import type { Sql } from '../store/database.ts';
import { lockKey, revokeKey } from '../store/keys.ts';
import { insertLogEntry } from '../store/owner-log.ts';

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
}

/** Makes a key and logs who did. @returns undefined where its id is taken */
export async function makeKey(
  sql: Sql,
  clock: Clock,
  shopId: number,
  actor: Actor,
  { name, scopes, id = newKeyId() }: KeyWish,
): Promise<{ id: string; key: string } | undefined> {
  const at = new Date(clock.now());
  return sql.begin(async (tx) => {
    const request = { name, scopes, createdBy: makerOf(actor), createdAt: at };
    const key = await createKeyOnce(tx, shopId, id, request);
    if (key === undefined) return undefined;
    const ownerId = ownerIdOf(actor);
    await insertLogEntry(tx, shopId, {
      at,
      ownerId,
      action: 'key_created',
      keyId: id,
      keyName: name,
    });
    return { id, key };
  });
}

/**
 * Ends a key and logs who did, once. It is certain to be refused everywhere only
 * `leaseDrainMilliseconds` later.
 * @returns false where the shop has no such key
 */
export async function endKey(
  sql: Sql,
  clock: Clock,
  shopId: number,
  actor: Actor,
  keyId: string,
): Promise<boolean> {
  const at = new Date(clock.now());
  return sql.begin(async (tx) => {
    const key = await lockKey(tx, shopId, keyId);
    if (!key) return false;
    if (key.revokedAt) return true;
    await revokeKey(tx, shopId, keyId, at);
    const ownerId = ownerIdOf(actor);
    await insertLogEntry(tx, shopId, {
      at,
      ownerId,
      action: 'key_revoked',
      keyId,
      keyName: key.name,
    });
    return true;
  });
}
