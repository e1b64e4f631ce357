import { randomBytes } from 'node:crypto';
import type { Sql } from '../store/database.ts';
import { insertKey } from '../store/keys.ts';
import { generateKey, hashKey } from './key-format.ts';
import type { Scope } from './scopes.ts';

interface KeyRequest {
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly createdBy: string;
  readonly createdAt: Date;
}

/**
 * Makes a key of a shop and stores what is kept of it.
 * @returns the key itself, which exists nowhere else and is shown once
 */
export async function createKey(
  sql: Sql,
  shopId: number,
  request: KeyRequest,
): Promise<{ id: string; key: string }> {
  const key = generateKey();
  const id = `key_${randomBytes(8).toString('hex')}`;
  await insertKey(sql, shopId, {
    ...request,
    keyId: id,
    hash: hashKey(key),
    lastFour: key.slice(-4),
  });
  return { id, key };
}
