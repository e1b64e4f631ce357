-- A dunning case opens only on a subscription that has not ended (cancelled, expired or failed) by
-- then. So a case also depends on when a subscription came back to life, and what is stored is
-- corrected where a case opened after an end.

-- Nobody writes while what is stored is corrected; readers wait for nothing.
lock table shops in exclusive mode;

-- The dunning cases of some subscriptions. In order of time (at equal times payments by id before
-- changes of status), a failed payment, unless for lack of stock, opens a case if none is open and the
-- subscription has not ended by then; a succeeded payment closes it as recovered; becoming cancelled,
-- expired or failed closes it as lost. Every closing event ends one stretch of events, so the case of a
-- stretch is its first failure that can open one and the event that ends it.
create or replace function dunning_cases_of(shop bigint, subscription_ids bigint[])
returns table (subscription_id bigint, "position" bigint, opened_at timestamptz,
  closed_at timestamptz, result text)
language sql stable as $$
  with events as (
    select wanted.id as subscription_id, e.*
    from unnest(subscription_ids) wanted (id)
    cross join lateral (
      select p.processed_at as at, 0 as rank, p.payment_id as id, 'recovered' as closes
      from payments p
      where p.shop_id = shop and p.subscription_id = wanted.id and p.status = 'succeeded'
      union all
      select p.processed_at, 0, p.payment_id, null
      from payments p
      left join lateral (
        select s.to_status from status_events s
        where s.shop_id = shop and s.subscription_id = wanted.id and s.at < p.processed_at
        order by s.at desc, s.position desc limit 1
      ) by_then on true
      where p.shop_id = shop and p.subscription_id = wanted.id
        and p.status = 'failed' and p.failure_kind is distinct from 'inventory'
        and (by_then.to_status in ('cancelled', 'expired', 'failed')) is not true
      union all
      select s.at, 1, s.position, 'lost' from status_events s
      where s.shop_id = shop and s.subscription_id = wanted.id
        and s.to_status in ('cancelled', 'expired', 'failed')
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
  select subscription_id, stretch, min(at) filter (where closes is null),
    min(at) filter (where closes is not null), min(closes)
  from stretches
  group by subscription_id, stretch
  having count(*) filter (where closes is null) > 0
$$;

-- The triggers of status events, as 0002 made them, but that any change of status may now change a
-- subscription's cases, not only its end.
do $do$
declare
  operation text;
  changed text;
begin
  foreach operation in array array['insert', 'update', 'delete'] loop
    changed := case operation
      when 'insert' then '(select shop_id, subscription_id from new_rows) changed'
      when 'delete' then '(select shop_id, subscription_id from old_rows) changed'
      else '(select shop_id, subscription_id from new_rows
        union select shop_id, subscription_id from old_rows) changed'
    end;
    execute format(
      'create or replace function %I() returns trigger language plpgsql
        set plan_cache_mode = force_generic_plan as %L',
      'status_events_metrics_' || operation,
      replace($body$
        declare
          shops bigint[] := array(select distinct shop_id from changed);
          shop bigint;
          subscription_ids bigint[];
        begin
          if cardinality(shops) = 0 then return null; end if;
          perform lock_shops(shops);
          foreach shop in array shops loop
            subscription_ids := array(
              select distinct subscription_id from changed where shop_id = shop
            );
            perform refresh_subscribers(shop, array(
              select distinct s.customer_id
              from unnest(subscription_ids) touched (id)
              cross join lateral (
                select customer_id from subscriptions
                where shop_id = shop and subscription_id = touched.id limit 1
              ) s
            ));
            perform refresh_dunning(shop, subscription_ids);
          end loop;
          return null;
        end
      $body$, 'from changed', 'from ' || changed)
    );
  end loop;
end $do$;

-- Only a case that opened after an end can have been wrong: it goes, or opens later. The triggers of
-- dunning_cases bring what differs into the ledger.
select refresh_dunning(s.shop_id, array(
  select distinct d.subscription_id
  from dunning_cases d
  join status_events e on e.shop_id = d.shop_id and e.subscription_id = d.subscription_id
  where d.shop_id = s.shop_id and e.at < d.opened_at
    and e.to_status in ('cancelled', 'expired', 'failed')
))
from shops s order by s.shop_id;
