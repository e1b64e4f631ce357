import { withTimeout, type Sql, type Transaction } from '../database.ts';

/** key_uninstalled: revoked because the app was uninstalled from Shopify. */
export type LoggedAction = 'key_created' | 'key_revoked' | 'key_rotated' | 'key_uninstalled';

export interface LogEntry {
  readonly at: Date;
  /** Null for the command line, an automatic action, or a deleted account. */
  readonly email: string | null;
  readonly isCommandLine: boolean;
  readonly action: LoggedAction;
  readonly keyId: string;
  readonly keyName: string;
}

interface NewLogEntry {
  readonly at: Date;
  /** Null for the command line and automatic actions. */
  readonly ownerId: string | null;
  readonly action: LoggedAction;
  readonly keyId: string;
  readonly keyName: string;
}

export async function insertLogEntry(
  tx: Transaction,
  shopId: number,
  { at, ownerId, action, keyId, keyName }: NewLogEntry,
): Promise<void> {
  await tx`
    insert into owners.log (shop_id, at, owner_id, action, key_id, key_name)
    values (${shopId}, ${at}, ${ownerId}, ${action}, ${keyId}, ${keyName})`;
}

/** Newest first. */
export async function listLog(sql: Sql, shopId: number, limit: number): Promise<LogEntry[]> {
  return withTimeout(sql<LogEntry[]>`
      select l.at, a.email, l.owner_id is null as "isCommandLine", l.action,
        l.key_id as "keyId", l.key_name as "keyName"
      from owners.log l left join owners.accounts a using (owner_id)
      where l.shop_id = ${shopId} order by l.at desc, l.entry_id desc limit ${limit}`);
}
