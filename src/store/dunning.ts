import { type Transaction, arrayText } from './database.ts';

/**
 * Derives the dunning cases of some subscriptions from their payments and status events, and stores
 * them in place of what was there.
 *
 * In the order of time (payments by id before changes of status where times are equal), a failed
 * payment, unless for lack of stock, opens a case if none is open; a succeeded payment closes it as
 * recovered; becoming cancelled, expired or failed closes it as lost. Every closing event ends one
 * stretch of events, so the case of a stretch is its first failure and the event that ends it.
 */
export async function rederiveDunning(
  tx: Transaction,
  shopId: number,
  subscriptionIds: readonly number[],
): Promise<void> {
  const ids = arrayText(subscriptionIds);
  await Promise.all([
    tx`
      delete from dunning_cases where shop_id = ${shopId} and subscription_id = any (${ids}::text::bigint[])`,
    tx`
      insert into dunning_cases (shop_id, subscription_id, position, opened_at, closed_at, result)
      with ids as materialized (
        select unnest(${ids}::text::bigint[]) as subscription_id
      ),
      -- Most subscriptions never failed to pay: nothing more is read of them.
      touched as materialized (
        select subscription_id from ids
        cross join lateral (
          select from payments p
          where p.shop_id = ${shopId} and p.subscription_id = ids.subscription_id
            and p.status = 'failed' and p.failure_kind is distinct from 'inventory'
          limit 1
        ) failure
      ),
      events as (
        select t.subscription_id, e.* from touched t
        cross join lateral (
          select processed_at as at, 0 as rank, payment_id as id,
            case when status = 'succeeded' then 'recovered' end as closes
          from payments
          where shop_id = ${shopId} and subscription_id = t.subscription_id
            and (status = 'succeeded'
              or status = 'failed' and failure_kind is distinct from 'inventory')
          union all
          select at, 1, position, 'lost' from status_events
          where shop_id = ${shopId} and subscription_id = t.subscription_id
            and to_status in ('cancelled', 'expired', 'failed')
          offset 0
        ) e
      ),
      stretches as (
        select *, count(closes) over (
            partition by subscription_id order by at, rank, id
            rows between unbounded preceding and 1 preceding
          ) as stretch
        from events
      )
      select ${shopId}, subscription_id, stretch, min(at) filter (where closes is null),
        min(at) filter (where closes is not null), min(closes)
      from stretches
      group by subscription_id, stretch
      having count(*) filter (where closes is null) > 0`,
  ]);
}
