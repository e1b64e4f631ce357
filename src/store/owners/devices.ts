import { type Sql, type Transaction, arrayText, withTimeout } from '../database.ts';

interface Device {
  /** SHA-256 in base64. */
  readonly tokenHash: string;
  readonly email: string;
}

/** The e-mail addresses that know each device. Omits unknown devices. In no order. @param hashes SHA-256 in base64 */
export function listDevicesByHash(
  sql: Sql,
  hashes: readonly string[],
  signedInAfter: Date,
): Promise<{ readonly hash: string; readonly record: readonly string[] }[]> {
  return withTimeout(sql<{ hash: string; record: readonly string[] }[]>`
      select requested.hash, json_agg(a.email) as record
      from unnest(${arrayText(hashes)}::text[]) requested (hash),
        lateral (select * from owners.devices
          where token_hash = decode(requested.hash, 'base64') offset 0) d,
        lateral (select email from owners.accounts where owner_id = d.owner_id offset 0) a
      where d.signed_in_at > ${signedInAfter}
      group by requested.hash`);
}

/**
 * Counts one more failure of a device on an account, up to a maximum.
 * @returns false if the device is unknown to the account, or has failed too often
 */
export async function addDeviceFailure(
  sql: Sql,
  { tokenHash, email }: Device,
  { signedInAfter, maxFailures }: { readonly signedInAfter: Date; readonly maxFailures: number },
): Promise<boolean> {
  const result = await sql`
    update owners.devices d set failures = d.failures + 1
    from owners.accounts a
    where d.token_hash = decode(${tokenHash}, 'base64') and a.owner_id = d.owner_id
      and a.email = ${email} and d.signed_in_at > ${signedInAfter} and d.failures < ${maxFailures}`;
  return result.count === 1;
}

export async function removeDeviceFailure(sql: Sql, { tokenHash, email }: Device): Promise<void> {
  await sql`
    update owners.devices d set failures = greatest(d.failures - 1, 0)
    from owners.accounts a
    where d.token_hash = decode(${tokenHash}, 'base64') and a.owner_id = d.owner_id
      and a.email = ${email}`;
}

/** Replaces a device's token, for all accounts that know it. */
export async function replaceDeviceToken(
  sql: Sql | Transaction,
  oldHash: string,
  newHash: string,
): Promise<void> {
  await sql`
    update owners.devices set token_hash = decode(${newHash}, 'base64')
    where token_hash = decode(${oldHash}, 'base64')`;
}

export async function upsertDevice(
  sql: Sql | Transaction,
  tokenHash: string,
  ownerId: string,
  at: Date,
): Promise<void> {
  await sql`
    insert into owners.devices (token_hash, owner_id, signed_in_at)
    values (decode(${tokenHash}, 'base64'), ${ownerId}, ${at})
    on conflict (token_hash, owner_id)
    do update set signed_in_at = excluded.signed_in_at, failures = 0`;
}

/** Deletes all devices of an owner. */
export async function deleteDevices(tx: Transaction, ownerId: string): Promise<void> {
  await tx`delete from owners.devices where owner_id = ${ownerId}`;
}

export async function deleteDevicesBefore(sql: Sql, at: Date): Promise<void> {
  await sql`delete from owners.devices where signed_in_at <= ${at}`;
}
