import type { Actor } from '../acts.ts';
import { records } from '../records/records.ts';
import type { Sql, Transaction } from './database.ts';
import { requireSynchronousCommit } from './failover.ts';
import { appendEntry, auditTables, deleteChain, installation } from './owners/audit.ts';
import { type ShopTable, childrenFirst, listShopTables } from './shop-tables.ts';
import { findShop } from './shops.ts';

/** Small, so that other clients of the database hardly wait. A subscription takes its payments along. */
const rowsPerTransaction = (table: string) => (table === 'subscriptions' ? 500 : 5_000);

type Check = (tx: Transaction) => Promise<void>;

/**
 * Marks a shop as being deleted, so that nothing is stored for it any more, and deletes its keys, and what lets owners,
 * sources and platforms in. After the commit, only leases of keys are left.
 */
export async function beginDeletion(
  sql: Sql,
  shopId: number,
  now: Date,
  { hasMoved = false } = {},
): Promise<void> {
  await sql.begin(async (tx) => {
    await requireSynchronousCommit(tx);
    if (hasMoved) await moveRows(tx);
    await tx`
      update shops set deleting_since = ${now} where shop_id = ${shopId} and deleting_since is null`;
    await tx`delete from api_keys where shop_id = ${shopId}`;
    await deleteOwnersOf(tx, shopId);
    await tx`delete from owners.sso_providers where shop_id = ${shopId}`;
    await tx`delete from ingest.sources where shop_id = ${shopId}`;
    await tx`delete from platforms.connections where shop_id = ${shopId}`;
  });
}

/** Lets a transaction write for a shop that is being moved, without what follows from its records. */
export async function moveRows(tx: Transaction): Promise<void> {
  await tx.script(`set local retention.moves_rows = 'on'`);
}

/**
 * Deletes a shop and everything stored about it, in every table that has its id, and the accounts of owners who have no
 * other shop. What is left is an entry in the installation's audit log. If interrupted, a second call resumes.
 * @param by who deletes it
 * @param movedTo where it is now, if it was moved
 * @param check runs first in each transaction; stops the deletion if it throws
 * @param progress called with the rows deleted so far
 */
export async function deleteShop(
  sql: Sql,
  shopId: number,
  {
    by,
    at,
    movedTo,
    check = async () => {},
    progress = () => {},
  }: {
    readonly by: Actor;
    readonly at: Date;
    readonly movedTo?: string;
    readonly check?: Check;
    readonly progress?: (rows: number) => void;
  },
): Promise<void> {
  const all = await listShopTables(sql);
  const tables = inOrder(all.filter(({ name }) => !auditTables.has(name)));
  let deleted = 0;
  const begin = <T>(work: (tx: Transaction) => Promise<T>) =>
    sql.begin(async (tx) => {
      await check(tx);
      if (movedTo) await moveRows(tx);
      return work(tx);
    });
  /** As the shop's only writer, unless an earlier run has deleted it. */
  const asWriter = <T>(work: (tx: Transaction) => Promise<T>) =>
    begin(async (tx) => {
      if (await findShop(tx, shopId)) await tx`select lock_shop(${shopId})`;
      return work(tx);
    });
  // The keys first, so that no one reads partly deleted data.
  await begin(async (tx) => {
    await tx`delete from api_keys where shop_id = ${shopId}`;
  });
  for (const table of tables) {
    if (!table.key?.length) continue;
    for (let rows = -1; rows !== 0;) {
      rows = await asWriter((tx) => deletePage(tx, shopId, table));
      progress((deleted += rows));
    }
  }
  await asWriter(async (tx) => {
    await deleteOwnersOf(tx, shopId);
    for (const { name } of tables) await tx`delete from ${tx.id(name)} where shop_id = ${shopId}`;
    await deleteChain(tx, shopId);
    const [what, target] = movedTo
      ? (['shop_moved', `${shopId} to ${movedTo}`] as const)
      : (['shop_deleted', String(shopId)] as const);
    await appendEntry(tx, installation, { at, by, what, target });
  });
}

/** How many owners have no other shop, so that their accounts go with it. */
export async function countOwnersOfOnly(sql: Sql, shopId: number): Promise<number> {
  const [found] = await sql<{ owners: number }[]>`
    select count(*) as owners from owners.memberships m
    where m.shop_id = ${shopId} and not exists (
      select from owners.memberships o where o.owner_id = m.owner_id and o.shop_id <> ${shopId})`;
  return found?.owners ?? 0;
}

/** Records before what follows from them, which their triggers write. */
function inOrder(tables: readonly ShopTable[]): ShopTable[] {
  const ofRecords = new Set(Object.values(records).map(({ table }): string => table));
  const rank = ({ name }: ShopTable) => {
    if (ofRecords.has(name)) return 0;
    return ['metric_ledger', 'metric_shops', 'shops'].indexOf(name) + 2;
  };
  return childrenFirst(tables).toSorted((a, b) => rank(a) - rank(b));
}

async function deletePage(tx: Transaction, shopId: number, table: ShopTable): Promise<number> {
  const { name, key = [] } = table;
  const columns = tx.unsafe(key.map((column) => `"${column.name}"`).join(', '));
  const result = await tx`
    delete from ${tx.id(name)} where shop_id = ${shopId} and (${columns}) in (
      select ${columns} from ${tx.id(name)} where shop_id = ${shopId}
      order by ${columns} limit ${rowsPerTransaction(name)})`;
  return result.count;
}

/** Deletes owners who have no shop left, and with them their sessions. */
async function deleteOwnersOf(tx: Transaction, shopId: number): Promise<void> {
  await tx`
    with theirs as (
      delete from owners.links where shop_id = ${shopId} returning owner_id
    ), members as (
      delete from owners.memberships where shop_id = ${shopId} returning owner_id
    )
    delete from owners.accounts a
    where a.owner_id in (select owner_id from theirs union select owner_id from members)
      and not exists (
        select from owners.memberships m where m.owner_id = a.owner_id and m.shop_id <> ${shopId})
      and not exists (
        select from owners.links l where l.owner_id = a.owner_id and l.shop_id <> ${shopId})`;
}
