import { randomBytes } from 'node:crypto';
import type { Sql, Transaction } from '../../store/database.ts';
import { insertKey } from '../../store/keys/keys.ts';
import { generateKey, hashKey } from './key-format.ts';
import type { Scope } from '../scopes.ts';

export interface KeyRequest {
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly createdBy: string;
  readonly createdAt: Date;
  /** From when on it is refused; never, if nothing is said. */
  readonly expiresAt?: Date | null;
}

export function newKeyId(): string {
  return `key_${randomBytes(8).toString('hex')}`;
}

export function isKeyId(text: string): boolean {
  return /^key_[0-9a-f]{16}$/.test(text);
}

/**
 * Makes a key of a shop and stores what is kept of it.
 * @returns the key itself, which exists nowhere else and is shown once
 */
export async function createKey(
  sql: Sql | Transaction,
  shopId: number,
  request: KeyRequest,
): Promise<{ id: string; key: string }> {
  const id = newKeyId();
  const key = await createKeyOnce(sql, shopId, id, request);
  if (key === undefined) throw new Error(`Shop ${shopId} has a key ${id} already.`);
  return { id, key };
}

/** The same with an id that was chosen before. @returns undefined where a key has it already */
export async function createKeyOnce(
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
