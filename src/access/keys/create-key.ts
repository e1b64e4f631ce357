import { randomBytes } from 'node:crypto';
import type { Sql, Transaction } from '../../store/database.ts';
import { insertKey } from '../../store/keys/keys.ts';
import { generateKey, hashKey } from './key-format.ts';
import type { Scope } from '../../vocabulary.ts';

export interface KeyRequest {
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly createdBy: string;
  readonly createdAt: Date;
  /** When it expires; null or undefined for never. */
  readonly expiresAt?: Date | null;
}

export function newKeyId(): string {
  return `key_${randomBytes(8).toString('hex')}`;
}

export function isKeyId(text: string): boolean {
  return /^key_[0-9a-f]{16}$/.test(text);
}

/**
 * Creates a key without checking the shop's tier or logging it, for the demo and tests.
 * @returns the key itself, which is stored nowhere and shown only once
 */
export async function createUnloggedKey(
  sql: Sql | Transaction,
  shopId: number,
  request: KeyRequest,
): Promise<{ id: string; key: string }> {
  const id = newKeyId();
  const key = await createKeyWithId(sql, shopId, id, request);
  if (key === undefined) throw new Error(`Shop ${shopId} already has a key ${id}.`);
  return { id, key };
}

/** Creates a key with a given id. @returns undefined if the shop already has a key with this id */
export async function createKeyWithId(
  sql: Sql | Transaction,
  shopId: number,
  keyId: string,
  request: KeyRequest,
): Promise<string | undefined> {
  const key = generateKey();
  const isNew = await insertKey(sql, shopId, {
    ...request,
    expiresAt: request.expiresAt ?? null,
    keyId,
    hash: hashKey(key),
    lastFour: key.slice(-4),
  });
  return isNew ? key : undefined;
}
