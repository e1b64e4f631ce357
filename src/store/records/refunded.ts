import { type Sql, arrayText } from '../database.ts';
import { unnest } from '../arrays.ts';
import { each, lookup } from '../lookup.ts';

/** Of the payments, the subscriptions that have ended or are paused, and are paid for beyond a time. */
export async function listPaidAhead(
  sql: Sql,
  shopId: number,
  paymentIds: readonly number[],
  after: Date,
): Promise<number[]> {
  const rows = await sql<{ id: number }[]>`
    select distinct s.subscription_id as id
    from unnest(${arrayText(paymentIds)}::text::bigint[]) requested (id)
    cross join ${lookup(sql, shopId, 'payments', 'payment_id', 'requested.id')} p
    cross join ${lookup(sql, shopId, 'subscriptions', 'subscription_id', 'p.subscription_id')} s
    where s.status <> 'active' and s.paid_through_at > ${after}`;
  return rows.map(({ id }) => id);
}

interface Period {
  /** Of the subscription. */
  readonly id: number;
  /** Epoch milliseconds. */
  readonly since: number;
}

/** The subscriptions of which all that was paid since the beginning of a period was refunded in full. */
export async function listTakenBack(
  sql: Sql,
  shopId: number,
  periods: readonly Period[],
): Promise<ReadonlySet<number>> {
  if (periods.length === 0) return new Set();
  const columns = { id: 'bigint', since: 'timestamptz' };
  const rows = await sql<{ id: number }[]>`
    select period.id from ${unnest(sql, 'period', columns, periods)}
    cross join ${each(sql, shopId, 'payments', 'subscription_id', 'period.id')} p
    cross join lateral (
      select coalesce(sum(amount), 0) as amount
      from ${each(sql, shopId, 'refunds', 'payment_id', 'p.payment_id')} r
    ) refunded
    where p.status = 'succeeded' and p.processed_at >= period.since
    group by period.id having bool_and(refunded.amount >= p.amount)`;
  return new Set(rows.map(({ id }) => id));
}
