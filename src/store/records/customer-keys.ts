import { randomBytes } from 'node:crypto';
import type { Sql, Transaction } from '../database.ts';

/** A shop's secret for e-mail addresses of customers: 32 bytes in hexadecimal. Undefined if it has not needed one. */
export async function findCustomerKey(
  sql: Sql | Transaction,
  shopId: number,
): Promise<string | undefined> {
  const [found] = await sql<{ key: string }[]>`
    select key from customer_keys where shop_id = ${shopId}`;
  return found?.key;
}

/** Finds a shop's key, or makes it. All who do so at once get the same one. */
export async function ensureCustomerKey(sql: Sql, shopId: number): Promise<string> {
  const known = await findCustomerKey(sql, shopId);
  if (known !== undefined) return known;
  await sql`
    insert into customer_keys (shop_id, key) values (${shopId}, ${newCustomerKey()})
    on conflict do nothing`;
  // Another process may have been first.
  return (await findCustomerKey(sql, shopId)) as string;
}

/** Replaces a shop's key: from then on, addresses become other ids. */
export async function replaceCustomerKey(
  sql: Sql | Transaction,
  shopId: number,
  key: string = newCustomerKey(),
): Promise<string> {
  await sql`
    insert into customer_keys (shop_id, key) values (${shopId}, ${key})
    on conflict (shop_id) do update set key = excluded.key`;
  return key;
}

export function newCustomerKey(): string {
  return randomBytes(32).toString('hex');
}
