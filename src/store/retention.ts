import type { Clock } from '../clock.ts';
import { addInterval } from '../intervals.ts';
import type { Log } from '../log/log.ts';
import { endedStatuses } from '../vocabulary.ts';
import { type Sql, type Transaction, arrayText } from './database.ts';
import type { Query } from './connections/query.ts';
import { each } from './lookup.ts';
import { Periodic } from './periodic.ts';
import { deletions } from './records/deletions.ts';
import { deleteIdleCustomers } from './records/subscription-writes.ts';
import { lockForWriting } from './records/writing.ts';
import { type KeepMonths, type KeptType, keptTypes, listShops } from './shops.ts';

/** Few, so that other clients of the database hardly wait. */
const rowsPerTransaction = 500;

interface Position {
  readonly at: string;
  readonly id: number;
}

interface Row {
  readonly at: Date;
  readonly id: number;
  /** The records that are older than what is kept. */
  readonly outdated: readonly number[];
}

/** What is older than a time, of a page of records that began before it. */
type List = (
  sql: Transaction,
  shopId: number,
  before: string,
  after: Position,
) => PromiseLike<Row[]>;

const hasOpenCase = (sql: Transaction, shopId: number) => sql`
  exists (
    select from ${each(sql, shopId, 'dunning_cases', 'subscription_id', 's.subscription_id')} d
    where d.closed_at is null)`;

/** A page of subscriptions. @param outdated which records of the subscription `s` are older */
const ofSubscriptions =
  (outdated: (sql: Transaction, shopId: number, before: string) => Query<object[]>): List =>
  (sql, shopId, before, after) =>
    sql<Row[]>`
    select s.created_at as at, s.subscription_id as id,
      to_json(array(${outdated(sql, shopId, before)})) as outdated
    from (
      select * from subscriptions
      where shop_id = ${shopId} and created_at < ${before}
        and (created_at, subscription_id) > (${after.at}, ${after.id})
      order by created_at, subscription_id limit ${rowsPerTransaction}
    ) s
    order by s.created_at, s.subscription_id`;

const lists: Readonly<Record<KeptType, List>> = {
  // Ended, paid for, and without anything newer.
  subscription: ofSubscriptions(
    (sql, shopId, before) => sql`
      select s.subscription_id
      where s.status = any (${arrayText(endedStatuses)}::text::text[])
        and greatest(s.status_since, s.paid_through_at) < ${before} and s.status_since is not null
        and not ${hasOpenCase(sql, shopId)}
        and not exists (
          select from ${each(sql, shopId, 'payments', 'subscription_id', 's.subscription_id')} p
          left join lateral (
            select max(r.refunded_at) as refunded_at
            from ${each(sql, shopId, 'refunds', 'payment_id', 'p.payment_id')} r
          ) r on true
          where greatest(p.processed_at, r.refunded_at) >= ${before})
        and not exists (
          select from ${each(sql, shopId, 'cancellation_sessions', 'subscription_id', 's.subscription_id')} c
          where c.created_at >= ${before})`,
  ),
  // Those of an open case say since when what is owed.
  payment: ofSubscriptions(
    (sql, shopId, before) => sql`
      select p.payment_id
      from ${each(sql, shopId, 'payments', 'subscription_id', 's.subscription_id')} p
      where p.processed_at < ${before} and not ${hasOpenCase(sql, shopId)}
        and not exists (
          select from ${each(sql, shopId, 'refunds', 'payment_id', 'p.payment_id')} r
          where r.refunded_at >= ${before})`,
  ),
  cancellation: (sql, shopId, before, after) => sql<Row[]>`
    select created_at as at, session_id as id, to_json(array[session_id]) as outdated
    from cancellation_sessions
    where shop_id = ${shopId} and created_at < ${before}
      and (created_at, session_id) > (${after.at}, ${after.id})
    order by created_at, session_id limit ${rowsPerTransaction}`,
};

type PrunedCounts = Partial<Record<KeptType, number>>;

interface PruneOptions {
  /** Epoch milliseconds. */
  readonly now: number;
  /** Counts only. */
  readonly isDryRun?: boolean;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Deletes what a shop no longer keeps, and with it its part in the figures of the past.
 * @returns how many records of each type; subscriptions take their payments and sessions along, uncounted
 */
export async function prune(
  sql: Sql,
  shopId: number,
  keep: KeepMonths,
  { now, isDryRun = false, signal }: PruneOptions,
): Promise<PrunedCounts> {
  const counts: PrunedCounts = {};
  for (const type of keptTypes) {
    const months = keep[type];
    if (months === undefined) continue;
    const before = new Date(addInterval(now, 'month', -months)).toISOString();
    let after: Position | undefined = { at: new Date(0).toISOString(), id: 0 };
    counts[type] = 0;
    while (after) {
      signal?.throwIfAborted();
      const from: Position = after;
      const page: Row[] = await sql.begin(async (tx) => {
        if (!isDryRun && !(await lockForWriting(tx, shopId))) return [];
        const rows = await lists[type](tx, shopId, before, from);
        const ids = rows.flatMap(({ outdated }) => outdated);
        if (!isDryRun && ids.length > 0) await remove(tx, shopId, type, ids);
        return rows;
      });
      counts[type] += page.reduce((sum, { outdated }) => sum + outdated.length, 0);
      const last = page.at(-1);
      after = last && { at: last.at.toISOString(), id: last.id };
    }
  }
  return counts;
}

async function remove(
  tx: Transaction,
  shopId: number,
  type: KeptType,
  ids: readonly number[],
): Promise<void> {
  if (type === 'subscription') {
    await tx`
      delete from cancellation_sessions
      where shop_id = ${shopId} and subscription_id = any (${arrayText(ids)}::text::bigint[])`;
  }
  const { touchedCustomerIds } = await deletions[type](tx, shopId, ids);
  if (touchedCustomerIds.length > 0) await deleteIdleCustomers(tx, shopId, touchedCustomerIds);
}

/** Deletes what shops no longer keep, every day. */
export function sweepShops(sql: Sql, clock: Clock, log: Log): Periodic {
  const daily = { everyMilliseconds: 24 * 3_600_000, firstWithinMilliseconds: 3_600_000 };
  const sweep = (signal: AbortSignal) => pruneShops(sql, clock, log, signal);
  return new Periodic(daily, sweep, log, 'could not delete records that are no longer kept');
}

export async function pruneShops(
  sql: Sql,
  clock: Clock,
  log: Log,
  signal?: AbortSignal,
): Promise<void> {
  for (const { id: shopId, keepMonths } of await listShops(sql)) {
    if (!keepMonths) continue;
    const deleted = await prune(sql, shopId, keepMonths, { now: clock.now(), signal });
    log.info({ shopId, deleted }, 'deleted records that are no longer kept');
  }
}
