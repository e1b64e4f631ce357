import { type Row, columnsOf, recordColumns } from '../../records/columns.ts';
import { records } from '../../records/records.ts';
import type { FeedName, SubscriptionStatus } from '../../vocabulary.ts';
import { type Transaction, arrayText } from '../database.ts';
import { unnest } from '../arrays.ts';
import { lookup } from '../lookup.ts';
import { isoTime } from '../../iso-time.ts';
import { insertCustomers } from './customers.ts';
import type { ExportedRecord } from './export-dates.ts';
import {
  type PaidPeriod,
  type StoredPeriod,
  mergePeriods,
  paidThroughOf,
} from '../../records/paid-periods.ts';
import type { SeenValue } from '../../records/past-values.ts';
import { type Judged, type Stored, isWritten, judge, insertRows } from './writing.ts';

/** A subscription as it is written, with what follows from its lines and events. */
type NewSubscription = Row<'subscription'> & {
  /** Null if it is unknown. */
  readonly statusSince: number | null;
  readonly currentPrice: string;
  /** Sums of lines by the interval that is their own, a decimal each. */
  readonly otherIntervals: Readonly<Record<string, string>> | null;
  /** Undefined until it is known what it was worth before. */
  readonly pastValues?: readonly SeenValue[] | null | undefined;
};

type NewLine = Row<'subscription'>['lines'][number] & {
  readonly subscriptionId: number;
  readonly position: number;
};

interface NewEvent {
  readonly subscriptionId: number;
  readonly position: number;
  readonly at: number;
  readonly from: SubscriptionStatus;
  readonly to: SubscriptionStatus;
}

/** A subscription with its lines and events. */
export interface SubscriptionRows {
  readonly subscription: NewSubscription;
  readonly lines: readonly NewLine[];
  readonly events: readonly NewEvent[];
}

/** What a stored subscription, `s`, is and was worth. */
const valueColumns = `s.current_price as "currentPrice", s.other_intervals as "otherIntervals",
  s.own_interval_unit as "intervalUnit", s.own_interval_count as "intervalCount",
  s.past_values::text as "pastValues", (extract(epoch from s.created_at) * 1000)::bigint as "createdAt"`;

interface StoredSubscription extends Stored {
  readonly status: SubscriptionStatus;
  readonly customerId: number;
  readonly planId: number;
  readonly currentPrice: string;
  readonly otherIntervals: Readonly<Record<string, string>> | null;
  readonly intervalUnit: string | null;
  readonly intervalCount: number | null;
  /** JSON. */
  readonly pastValues: string | null;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  readonly paidThrough: number | null;
  /** JSON of a list of StoredPeriod. */
  readonly paidPeriods: string | null;
}

/** A subscription that is compared with what is stored, but not stored yet. */
export interface ComparedSubscription extends Judged {
  readonly rows: SubscriptionRows;
  readonly before: StoredSubscription | undefined;
  readonly exported: ExportedRecord | undefined;
}

/**
 * Compares subscriptions with what is stored. A subscription waits if its plan is not stored.
 * @param incoming with different ids
 */
export async function compareSubscriptions(
  tx: Transaction,
  shopId: number,
  incoming: ReadonlyMap<number, SubscriptionRows>,
): Promise<ComparedSubscription[]> {
  const judged = await judge<NewSubscription, StoredSubscription>(
    tx,
    shopId,
    'subscription',
    [...incoming.values()].map((rows) => rows.subscription),
    {
      columns: `s.status, s.customer_id as "customerId", s.paid_periods::text as "paidPeriods",
        s.plan_id as "planId", ${valueColumns},
        (extract(epoch from s.paid_through_at) * 1000)::bigint as "paidThrough"`,
    },
  );
  return judged.map(({ row: _row, ...each }) => ({
    ...each,
    rows: incoming.get(each.id) as SubscriptionRows,
  }));
}

/**
 * Stores the subscriptions that are new or different, and replaces their lines and events.
 * @param savedAt when the last stored session that saved it began, epoch milliseconds, of new subscriptions. The database
 * keeps it, but one more change of a subscription costs it more than the rest of a session
 */
export async function storeSubscriptions(
  tx: Transaction,
  shopId: number,
  compared: readonly ComparedSubscription[],
  savedAt: ReadonlyMap<number, number>,
  feed: FeedName,
): Promise<void> {
  const written = compared.filter(isWritten);
  if (written.length === 0) return;
  const rows = written.map((each) => each.rows);
  const replaced = written.filter(({ before }) => before !== undefined).map(({ id }) => id);
  // Pipelined; the server runs them in order. Metrics follow from a subscription together with its events.
  await Promise.all([
    insertCustomers(tx, shopId, new Set(rows.map(({ subscription }) => subscription.customerId))),
    insertRows(
      tx,
      shopId,
      replaced.length > 0
        ? {
            table: 'subscriptions',
            columns: subscriptionColumns,
            replacing: 'subscription_id',
          }
        : { table: 'subscriptions', columns: newSubscriptionColumns },
      written.map(({ id, rows: { subscription }, before }) => ({
        ...withPaidPeriods(subscription, before),
        savedAt: savedAt.get(id) ?? null,
        feed: subscription.feed ?? feed,
      })),
    ),
    ...(replaced.length > 0 ? deleteLinesAndEvents(tx, shopId, replaced) : []),
    insertRows(
      tx,
      shopId,
      { table: 'subscription_lines', columns: lineColumns },
      rows.flatMap(({ lines }) => lines),
    ),
    insertRows(
      tx,
      shopId,
      { table: 'status_events', columns: eventColumns },
      rows.flatMap(({ events }) => events),
    ),
  ]);
}

type WrittenSubscription = Omit<NewSubscription, 'paidPeriods'> & {
  readonly paidPeriods: readonly StoredPeriod[] | null;
};

const toStored = ({ payment, through }: PaidPeriod): StoredPeriod => [payment, through];

function withPaidPeriods(
  row: NewSubscription,
  before: StoredSubscription | undefined,
): WrittenSubscription {
  if (!row.paidPeriods) return { ...row, paidPeriods: null };
  if (!before) return { ...row, paidPeriods: row.paidPeriods.map(toStored) };
  const stored: readonly StoredPeriod[] = JSON.parse(before.paidPeriods ?? '[]');
  const periods = mergePeriods(row.paidPeriods, stored, before.paidThrough);
  return {
    ...row,
    paidThroughAt: paidThroughOf(periods),
    paidPeriods: periods.map(toStored),
  };
}

const subscriptionColumns = {
  ...recordColumns('subscription'),
  statusSince: 'status_since timestamptz',
  currentPrice: 'current_price numeric',
  otherIntervals: 'other_intervals jsonb',
  feed: 'feed text',
};

/** Of a stored one, only the triggers of sessions change it. */
const newSubscriptionColumns = { ...subscriptionColumns, savedAt: 'saved_at timestamptz' };

const lineColumns = {
  ...columnsOf(records.subscription.fields.lines.fields),
  subscriptionId: 'subscription_id bigint',
  position: 'position smallint',
};

const eventColumns = {
  subscriptionId: 'subscription_id bigint',
  position: 'position smallint',
  at: 'at timestamptz',
  from: 'from_status text',
  to: 'to_status text',
};

function deleteLinesAndEvents(tx: Transaction, shopId: number, subscriptionIds: readonly number[]) {
  const ids = arrayText(subscriptionIds);
  return [
    tx`delete from subscription_lines where shop_id = ${shopId} and subscription_id = any (${ids}::text::bigint[])`,
    tx`delete from status_events where shop_id = ${shopId} and subscription_id = any (${ids}::text::bigint[])`,
  ];
}

interface StatusChangeRow {
  readonly id: number;
  /** Epoch milliseconds; null if it is unknown. */
  readonly at: number | null;
  readonly from: SubscriptionStatus;
  readonly to: SubscriptionStatus;
}

/** Status changes of the given subscriptions, in order within each. */
function listStatusChanges(
  tx: Transaction,
  shopId: number,
  ids: readonly number[],
): Promise<StatusChangeRow[]> {
  return tx<StatusChangeRow[]>`
    select i.id, (extract(epoch from e.at) * 1000)::bigint as at, e.from_status as from,
      e.to_status as to
    from unnest(${arrayText(ids)}::text::bigint[]) as i(id)
    cross join lateral (
      (
        select position, at, from_status, to_status from status_events
        where shop_id = ${shopId} and subscription_id = i.id
        order by position offset 0
      )
      union all
      select null, null, 'active', s.status
      from ${lookup(tx, shopId, 'subscriptions', 'subscription_id', 'i.id')} s
      where s.status_since is null
    ) e
    order by i.id, e.position`;
}

/** The same, by subscription. */
export async function listHistories(tx: Transaction, shopId: number, ids: readonly number[]) {
  const rows = ids.length === 0 ? [] : await listStatusChanges(tx, shopId, ids);
  return Map.groupBy(rows, ({ id }) => id);
}

/** The status of a stored subscription, and how it came to it. */
export interface StatusHistory extends Pick<NewSubscription, 'id' | 'status' | 'statusSince'> {
  readonly events: readonly NewEvent[];
}

/** Replaces the histories of stored subscriptions, and leaves all else of them. */
export async function updateHistories(
  tx: Transaction,
  shopId: number,
  histories: readonly StatusHistory[],
): Promise<void> {
  if (histories.length === 0) return;
  const ids = arrayText(histories.map(({ id }) => id));
  const columns = { id: 'bigint', status: 'text', statusSince: 'timestamptz' } as const;
  const events = histories.flatMap((each) => each.events);
  await Promise.all([
    tx`
      update subscriptions s set status = h.status, status_since = h."statusSince"
      from ${unnest(tx, 'h', columns, histories)}
      where s.shop_id = ${shopId} and s.subscription_id between h.id and h.id`,
    tx`delete from status_events where shop_id = ${shopId} and subscription_id = any (${ids}::text::bigint[])`,
    insertRows(tx, shopId, { table: 'status_events', columns: eventColumns }, events),
  ]);
}

type Value = 'currentPrice' | 'otherIntervals' | 'intervalUnit' | 'intervalCount' | 'pastValues';

interface DatedValue extends Pick<StoredSubscription, Value | 'id' | 'createdAt' | 'updatedAt'> {
  readonly planInterval: string;
  /** What exports showed of it, as JSON. */
  readonly sightings: string | null;
}

/** What those of the subscriptions that are stored are and were worth, and what dates it. */
export function listValues(
  tx: Transaction,
  shopId: number,
  ids: readonly number[],
): Promise<DatedValue[]> {
  return tx<DatedValue[]>`
    select i.id, ${tx.unsafe(valueColumns)}, p.interval_unit || ' ' || p.interval_count as "planInterval",
      (extract(epoch from s.updated_at) * 1000)::bigint as "updatedAt", d.sightings
    from unnest(${arrayText(ids)}::text::bigint[]) i (id)
    cross join ${lookup(tx, shopId, 'subscriptions', 'subscription_id', 'i.id')} s
    cross join ${lookup(tx, shopId, 'plans', 'plan_id', 's.plan_id')} p
    left join lateral (
      select sightings from export_dates
      where shop_id = ${shopId} and kind = 'subscription' and id = i.id limit 1
    ) d on true`;
}

/** Replaces what stored subscriptions were worth before. */
export async function updatePastValues(
  tx: Transaction,
  shopId: number,
  rows: readonly { readonly id: number; readonly pastValues: readonly SeenValue[] | null }[],
): Promise<void> {
  if (rows.length === 0) return;
  const columns = { id: 'bigint', pastValues: 'jsonb' } as const;
  await tx`
    update subscriptions s set past_values = v."pastValues"
    from ${unnest(tx, 'v', columns, rows)}
    where s.shop_id = ${shopId} and s.subscription_id between v.id and v.id`;
}

/** Replaces the billing interval of a plan, with its id, in what subscriptions were worth before. */
export async function replacePastInterval(
  tx: Transaction,
  shopId: number,
  { old, now }: { readonly old: string; readonly now: string },
): Promise<void> {
  const [from, to] = [JSON.stringify(old), JSON.stringify(now)];
  await tx`
    update subscriptions s
    set past_values = replace(s.past_values::text, ${from}, ${to})::jsonb
    from (
      select subscription_id from subscriptions
      where shop_id = ${shopId} and past_values is not null and last_value_change(past_values) > '-infinity'
      order by last_value_change(past_values) offset 0
    ) v
    where s.shop_id = ${shopId} and s.subscription_id between v.subscription_id and v.subscription_id
      and strpos(s.past_values::text, ${from}) > 0`;
}

/** Notes that the values of a shop's subscriptions are known from a time on, in epoch milliseconds. */
export async function noteValuesSince(tx: Transaction, shopId: number, at: number): Promise<void> {
  await tx`
    update metric_shops set values_since = ${isoTime(at)}
    where shop_id = ${shopId} and values_since > ${isoTime(at)}`;
}

/** Deletes those of the customers who have no subscription left. */
export async function deleteIdleCustomers(
  tx: Transaction,
  shopId: number,
  customerIds: readonly number[],
): Promise<void> {
  await tx`
    delete from customers c
    where c.shop_id = ${shopId}
      and c.customer_id = any (${arrayText(customerIds)}::text::bigint[])
      and (
        select true from subscriptions
        where shop_id = ${shopId} and customer_id between c.customer_id and c.customer_id
        order by customer_id limit 1
      ) is null`;
}
