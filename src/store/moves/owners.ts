import type { Sql, Transaction } from '../database.ts';

/** What an owner signs in with, and takes along to a place where the address has no account. */
const factorTables = ['owners.factors', 'owners.recovery_codes'] as const;

interface Account {
  readonly ownerId: string;
  readonly email: string;
  readonly json: string;
}

/**
 * Copies the accounts of a shop's owners, with passwords and second factors, unless the address has an account there:
 * that stays as it is.
 * @param translate seals the secret of an authenticator app for the other place
 * @returns the ids there, by those here
 */
export async function copyOwners(
  from: Sql | Transaction,
  to: Transaction,
  shopId: number,
  translate: (factor: Readonly<Record<string, unknown>>) => object,
): Promise<ReadonlyMap<string, string>> {
  const ids = new Map<string, string>();
  const accounts = await from<Account[]>`
    select owner_id as "ownerId", email, row_to_json(a)::text as json from owners.accounts a
    where owner_id in (
      select owner_id from owners.memberships where shop_id = ${shopId}
      union select owner_id from owners.links where shop_id = ${shopId}
      union select invited_by from owners.links where shop_id = ${shopId})`;
  for (const { ownerId, email, json } of accounts) {
    const [known] = await to<{ id: string }[]>`
      select owner_id as id from owners.accounts where email = ${email} or owner_id = ${ownerId}
      order by email = ${email} desc limit 1`;
    ids.set(ownerId, known?.id ?? ownerId);
    if (known) continue;
    await insertRow(to, 'owners.accounts', json);
    for (const table of factorTables) {
      const rows = await from<{ json: string }[]>`
        select row_to_json(t)::text as json from ${from.id(table)} t where owner_id = ${ownerId}`;
      for (const row of rows) {
        const factor = JSON.parse(row.json);
        await insertRow(to, table, JSON.stringify({ ...factor, ...translate(factor) }));
      }
    }
  }
  return ids;
}

async function insertRow(to: Transaction, table: string, json: string): Promise<void> {
  await to.unsafe(
    `insert into ${table} select * from json_populate_record(null::${table}, $1::text::json)`,
    [json],
  );
}
