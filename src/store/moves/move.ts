import { randomUUID } from 'node:crypto';
import type { Actor } from '../../acts.ts';
import { CommandError } from '../../errors.ts';
import { isDistributed } from '../cluster/cluster.ts';
import type { Sql, Transaction } from '../database.ts';
import { requireSynchronousCommit } from '../failover.ts';
import { appendEntry, installation } from '../owners/audit.ts';
import { inOneState, listTables } from '../shop-copy.ts';
import { moveRows } from '../shop-deletion.ts';
import { listShopTables } from '../shop-tables.ts';
import { findShop } from '../shops.ts';
import { copyOwners } from './owners.ts';
import {
  type CopyOptions,
  type Translate,
  compareRows,
  copyRows,
  isOfRequests,
  removeGone,
} from './rows.ts';

export interface MoveOptions extends Omit<CopyOptions, 'translate'> {
  /** The other place, without a password. */
  readonly address: string;
  /** Whether a transaction would hold up all other clients, as in the embedded database. */
  readonly isEmbedded: boolean;
  readonly by: Actor;
  readonly at: Date;
  /** Seals the secrets of a row for the other place. */
  readonly reseal: Translate;
  /** Examines the copy before others see it. @throws if it must not be used */
  readonly check: (copy: Transaction) => Promise<void>;
}

interface MoveState {
  readonly moveId: string | null;
  /** Null for a shop that is not leaving. */
  readonly movingTo: string | null;
}

export async function findMove(
  sql: Sql | Transaction,
  shopId: number,
): Promise<MoveState | undefined> {
  const [found] = await sql<MoveState[]>`
    select move_id as "moveId", moving_to as "movingTo" from metric_shops where shop_id = ${shopId}`;
  return found;
}

/** Where a shop has moved that is no longer here, by the audit log. */
export async function findWhereMoved(sql: Sql, shopId: number): Promise<string | undefined> {
  const before = `${shopId} to `;
  const [last] = await sql<{ target: string }[]>`
    select target from audit_entries
    where shop_id = ${installation} and what = 'shop_moved' and starts_with(target, ${before})
    order by number desc limit 1`;
  return last?.target.slice(before.length);
}

/** @throws CommandError if shops cannot be copied from one database to the other */
export async function requireAlike(from: Sql, to: Sql, address: string): Promise<void> {
  const [here, there] = await Promise.all(
    [from, to].map(async (sql) => {
      // Null for tables that do not exist.
      const [rights] = await sql<
        { mayRead: boolean | null; mayWrite: boolean | null; database: string }[]
      >`
        select has_table_privilege(to_regclass('schema_migrations'), 'select') as "mayRead",
          has_table_privilege(to_regclass('shops'), 'insert') as "mayWrite",
          concat(extract(epoch from pg_postmaster_start_time()), current_database()) as database`;
      const [found] = rights?.mayRead
        ? await sql<{ version: number }[]>`select max(version) as version from schema_migrations`
        : [];
      return { ...rights, version: found?.version, isOnCluster: await isDistributed(sql) };
    }),
  );
  // Otherwise the shop would be taken for a copy, to be deleted.
  if (here?.database === there?.database) {
    throw new CommandError(`${address} is the database in which the shop is. Name another one.`);
  }
  if (here?.isOnCluster || there?.isOnCluster) {
    throw new CommandError(
      'Shops are not moved from or to a Citus cluster; "shops export" and "import" take the records there.',
    );
  }
  if (there?.mayWrite === false) {
    throw new CommandError(
      `The login for ${address} may not write there. Use that of the service there, as in its DATABASE_URL.`,
    );
  }
  if (here?.version !== there?.version) {
    throw new CommandError(
      `The schema of ${address} is not that of this version. Run "retention migrate" there with the same version first.`,
    );
  }
}

/** A transaction on a connection of its own, which may be committed within another one. */
async function withTransaction<Result>(
  sql: Sql,
  work: (tx: Transaction, commit: () => Promise<void>) => Promise<Result>,
): Promise<Result> {
  const session = await sql.reserve();
  try {
    await session.script(`begin;
      set local retention.audit_deletion = 'on';
      set local idle_in_transaction_session_timeout = 0`);
    await moveRows(session);
    await requireSynchronousCommit(session);
    return await work(session, async () => {
      await session.script('commit');
    });
  } catch (error) {
    await session.script('rollback').catch(() => {});
    throw error;
  } finally {
    session.release();
  }
}

/** Copies what a shop has of its business, while it is in use. The copy has no keys, owners and sources. */
export async function copyShopTo(from: Sql, to: Sql, options: MoveOptions): Promise<void> {
  const { shopId, isEmbedded, address, by, at } = options;
  const copied = new Set((await listTables(from)).map(({ name }) => name));
  const tables = (await listShopTables(from)).filter(({ name }) => copied.has(name));
  await withTransaction(to, async (copy, commit) => {
    await claim(from, copy, options);
    const target = `${shopId} to ${address}`;
    await appendEntry(from, shopId, { at, by, what: 'shop_copied', target });
    await inOneState(from, { shopId, isEmbedded, isOnce: true }, async (sql) => {
      await copyRows(sql, copy, tables, { ...options, translate: options.reseal });
      await compareRows(sql, copy, tables, shopId);
    });
    await options.check(copy);
    await arrive(copy, options, null, 'shop_copied');
    await commit();
  });
}

/**
 * Brings a shop to another database, where it is whole once this has returned, and not visible before. The old one then
 * lets nothing in for it, and its rows there are to be deleted. If interrupted, a second call resumes.
 */
export async function bringShop(from: Sql, to: Sql, options: MoveOptions): Promise<void> {
  const { shopId, address } = options;
  const here = await findMove(from, shopId);
  if (here?.movingTo && here.movingTo !== address) {
    throw new CommandError(
      `The move of shop ${shopId} to ${here.movingTo} is not finished. Run that move again first.`,
    );
  }
  // What has begun to go from here has arrived, and may since have been deleted or moved there.
  if (here?.movingTo && (await findShop(from, shopId))?.deletingSince) return;
  await bring(from, to, options, (here?.movingTo && here.moveId) || randomUUID());
}

/**
 * Inserts the shop, so that others that bring or create one of its id wait, and then find this one.
 * @returns false if this move has brought it before
 * @throws CommandError if there is another
 */
async function claim(
  from: Sql,
  copy: Transaction,
  { shopId, address }: MoveOptions,
  moveId?: string,
): Promise<boolean> {
  const [row] = await from<[{ json: string }]>`
    select row_to_json(s)::text as json from shops s where shop_id = ${shopId}`;
  const claimed = await copy`
    insert into shops select * from json_populate_record(null::shops, ${row.json}::text::json)
    on conflict do nothing returning shop_id`;
  if (claimed.length > 0) return true;
  if (moveId !== undefined && (await findMove(copy, shopId))?.moveId === moveId) return false;
  throw new CommandError(
    `${address} has a shop ${shopId} already. If that is only a copy, delete it there first.`,
  );
}

/** The copy is one transaction, so that an interrupted move leaves nothing there. */
async function bring(from: Sql, to: Sql, options: MoveOptions, moveId: string): Promise<void> {
  const { shopId, reseal, isEmbedded } = options;
  const tables = await listShopTables(from);
  await withTransaction(to, async (copy, commit) => {
    if (!(await claim(from, copy, options, moveId))) return commit();
    const copyAll = async (sql: Sql | Transaction, since?: string) => {
      const owners = await copyOwners(sql, copy, shopId, (row) => reseal('owners.factors', row));
      await copyRows(sql, copy, tables, {
        ...options,
        since,
        translate: (table, row) => ({
          ...reseal(table, row),
          ...ownersOf(row, owners),
        }),
      });
      await removeGone(sql, copy, tables, shopId);
    };
    const verify = async (sql: Sql | Transaction) => {
      // Without a snapshot, what requests write meanwhile would differ.
      const compared = isEmbedded ? tables.filter((table) => !isOfRequests(table)) : tables;
      await compareRows(sql, copy, compared, shopId);
      await options.check(copy);
    };
    let since: string | undefined;
    if (!isEmbedded) {
      const copySince = (last?: string) =>
        from.begin('isolation level repeatable read read only', async (tx) => {
          const next = await findOldestWriter(tx);
          await copyAll(tx, last);
          if (last !== undefined) await verify(tx);
          return next;
        });
      since = await copySince(await copySince());
    }
    await asLeaving(from, options, moveId, async (sql, willCommit) => {
      await copyAll(sql, since);
      if (isEmbedded) await verify(sql);
      await arrive(copy, options, moveId, 'shop_moved');
      willCommit();
      await commit();
    });
  });
}

const ownersOf = (
  { owner_id: owner, invited_by: inviter }: Readonly<Record<string, unknown>>,
  ids: ReadonlyMap<string, string>,
) => ({
  ...(typeof owner === 'string' && { owner_id: ids.get(owner) }),
  ...(typeof inviter === 'string' && { invited_by: ids.get(inviter) }),
});

/** What later transactions write is newer than the state that this one reads. */
async function findOldestWriter(tx: Transaction): Promise<string> {
  const [found] = await tx<[{ oldest: string }]>`
    select pg_snapshot_xmin(pg_current_snapshot())::text as oldest`;
  return found.oldest;
}

/** Makes the copy a shop of its new place, and says so in its audit log. */
async function arrive(
  copy: Transaction,
  { shopId, address, by, at }: MoveOptions,
  moveId: string | null,
  what: 'shop_moved' | 'shop_copied',
): Promise<void> {
  await copy`
    update metric_shops set writer = null, moving_to = null, move_id = ${moveId}::text::uuid
    where shop_id = ${shopId}`;
  // Later batches get positions after those that were copied.
  await copy`
    select setval(sequence, last) from (
      select pg_get_serial_sequence('ingest.batches', 'position')::regclass as sequence, max(position) as last
      from ingest.batches where shop_id = ${shopId}) moved
    where last > coalesce(pg_sequence_last_value(sequence), 0)`;
  await appendEntry(copy, shopId, { at, by, what, target: `${shopId} to ${address}` });
}

/** Shorter than a request waits. */
const lockMilliseconds = 2_000;
const attempts = 30;

/**
 * Runs the last step of a move, while nothing is stored for the shop: others wait until it is over, or are refused. The
 * shop stays marked as leaving unless the work fails before `willCommit`.
 */
async function asLeaving(
  from: Sql,
  { shopId, address, isEmbedded }: MoveOptions,
  moveId: string,
  work: (sql: Sql | Transaction, willCommit: () => void) => Promise<void>,
): Promise<void> {
  let isSettled = false;
  let isMarked = false;
  const marked = async (sql: Sql | Transaction) => {
    await from.begin(async (tx) => {
      await requireSynchronousCommit(tx);
      await tx.script(`set local lock_timeout = ${lockMilliseconds}`);
      await tx`
        insert into metric_shops as m (shop_id, move_id, moving_to)
        values (${shopId}, ${moveId}::text::uuid, ${address})
        on conflict (shop_id) do update set move_id = excluded.move_id, moving_to = excluded.moving_to`;
    });
    isMarked = true;
    try {
      await work(sql, () => (isSettled = true));
    } catch (error) {
      if (!isSettled) {
        await from`
          update metric_shops set move_id = null, moving_to = null where shop_id = ${shopId}`;
      }
      throw error;
    }
  };
  if (isEmbedded) return marked(from);
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await from.begin(async (tx) => {
        await tx.script(`set local lock_timeout = ${lockMilliseconds}`);
        await tx`select pg_advisory_xact_lock(move_lock(${shopId}))`;
        await marked(tx);
      });
    } catch (error) {
      const isBusy = error instanceof Error && 'code' in error && error.code === '55P03';
      if (isMarked || !isBusy || attempt === attempts) throw error;
    }
  }
}
