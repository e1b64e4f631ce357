-- Billing cycles that failed: the last failed payment of a cycle on each UTC day, and whether it is the cycle's last at
-- all. So a cycle that failed several times counts once in any period: at its last failure there. Failures for lack of
-- stock do not count.

-- The failed cycles of some subscriptions, from their payments.
create or replace function failed_cycles_of(shop bigint, subscription_ids bigint[])
returns setof failed_cycle language plpgsql stable as $$
begin
  return query
  select p.subscription_id, p.cycle, max(p.processed_at),
    max(p.processed_at) = max(max(p.processed_at)) over (partition by p.subscription_id, p.cycle)
  from unnest(subscription_ids) wanted (id)
  cross join lateral (
    select * from payments
      where shop_id = shop and subscription_id between wanted.id and wanted.id
      order by subscription_id offset 0
  ) p
  where p.status = 'failed' and p.failure_kind is distinct from 'inventory'
  group by p.subscription_id, p.cycle, metric_day(p.processed_at);
end $$;

-- What fails again supersedes what has failed.
create or replace function refresh_failed_cycles(shop bigint, subscription_ids bigint[])
returns void language plpgsql as $$
declare
  cycles failed_cycle[];
  outdated bigint[];
begin
  if cardinality(subscription_ids) = 0 then return; end if;
  cycles := array(select c from failed_cycles_of(shop, subscription_ids) c);

  select array_agg(distinct f.subscription_id) into outdated
  from unnest(subscription_ids) wanted (id)
  cross join lateral (
    select subscription_id, cycle, failed_at from failed_cycles
    where shop_id = shop and subscription_id = wanted.id order by cycle, failed_at offset 0
  ) f
  where (f.subscription_id, f.cycle, f.failed_at)
    not in (select c.subscription_id, c.cycle, c.failed_at from unnest(cycles) c);
  if outdated is not null then
    delete from failed_cycles f
    where f.shop_id = shop and f.subscription_id = any (outdated)
      and (f.subscription_id, f.cycle, f.failed_at)
        not in (select c.subscription_id, c.cycle, c.failed_at from unnest(cycles) c);
  end if;

  insert into failed_cycles (shop_id, subscription_id, cycle, failed_at, is_last)
  select m.shop_id, c.*
  from metric_shops m
  cross join unnest(cycles) c
  left join lateral (
    select * from failed_cycles
    where shop_id = shop and subscription_id between c.subscription_id and c.subscription_id
    order by subscription_id offset 0
  ) f on f.cycle = c.cycle and f.failed_at = c.failed_at
  where m.shop_id = shop and f.is_last is distinct from c.is_last
  on conflict (shop_id, subscription_id, cycle, failed_at) do update set is_last = excluded.is_last;

  perform refresh_superseded_facts(shop, subscription_ids);
end $$;
