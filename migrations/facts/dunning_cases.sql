-- Dunning cases: times in which payments of a subscription fail.
--
-- In order of time (at equal times payments by id before changes of status), a failed payment opens a case if none is
-- open and the subscription has not ended (cancelled, expired or failed) by then; failures for lack of stock do not
-- count. A succeeded payment closes it as recovered; the subscription becoming cancelled, expired or failed closes it
-- as lost. Every closing event ends a stretch of events, so a case is the first failure of its stretch that can open
-- one, and the event that ends the stretch.

-- The cases of some subscriptions, from their payments and changes of status.
create or replace function dunning_cases_of(shop bigint, subscription_ids bigint[])
returns setof dunning_case language plpgsql stable as $$
begin
  return query
  with known as materialized (
    select s.subscription_id as id
    from unnest(subscription_ids) wanted (id)
    cross join lateral (
      select * from subscriptions
      where shop_id = shop and subscription_id between wanted.id and wanted.id
      order by subscription_id limit 1
    ) s
    where s.status_since is not null
  ),
  paid as (
    select p.*
    from known wanted
    cross join lateral (
      select * from payments
      where shop_id = shop and subscription_id between wanted.id and wanted.id
      order by subscription_id offset 0
    ) p
    where p.status <> 'failed' or p.failure_kind is distinct from 'inventory'
  ),
  changed as (
    select s.*
    from known wanted
    cross join lateral (
      select * from status_events where shop_id = shop and subscription_id = wanted.id
      order by position offset 0
    ) s
  ),
  events as (
    select p.subscription_id, p.processed_at as at, 0 as rank, p.payment_id as id,
      'recovered' as closes, null::numeric as amount, null as code
    from paid p where p.status = 'succeeded'
    union all
    select p.subscription_id, p.processed_at, 0, p.payment_id, null, p.amount, p.failure_code
    from paid p
    left join lateral (
      select s.to_status
      from (
        select * from status_events
        where shop_id = shop and subscription_id = p.subscription_id
        order by position desc offset 0
      ) s
      where s.at < p.processed_at limit 1
    ) by_then on true
    where p.status = 'failed'
      and (by_then.to_status in ('cancelled', 'expired', 'failed')) is not true
    union all
    select s.subscription_id, s.at, 1, s.position, 'lost', null, null
    from changed s where s.to_status in ('cancelled', 'expired', 'failed')
  ),
  stretches as (
    select e.*, count(e.closes) over (
        partition by e.subscription_id order by e.at, e.rank, e.id
        rows between unbounded preceding and 1 preceding
      ) as stretch
    from events e
  )
  select s.subscription_id, s.stretch::integer, min(s.at) filter (where s.closes is null),
    min(s.at) filter (where s.closes is not null), min(s.closes),
    trim_scale((array_agg(s.amount order by s.at, s.id) filter (where s.closes is null))[1]),
    (array_agg(s.code order by s.at desc, s.id desc) filter (where s.closes is null))[1],
    (count(*) filter (where s.closes is null))::integer
  from stretches s
  group by s.subscription_id, s.stretch
  having count(*) filter (where s.closes is null) > 0;
end $$;

create or replace function refresh_dunning(shop bigint, subscription_ids bigint[])
returns void language plpgsql as $$
declare
  held bigint[];
  touched bigint[];
  cases dunning_case[];
  outdated bigint[];
begin
  -- Most subscriptions never failed to pay: nothing more is read of them. One that is being deleted
  -- has no cases.
  select coalesce(array_agg(wanted.id) filter (where subscription.held), '{}'),
    coalesce(array_agg(wanted.id) filter (where subscription.held or cases.stored), '{}')
  into held, touched
  from unnest(subscription_ids) wanted (id)
  left join lateral (
    select true as failed from payments
    where shop_id = shop and subscription_id between wanted.id and wanted.id
      and status = 'failed' and failure_kind is distinct from 'inventory'
    order by subscription_id limit 1
  ) payment on true
  left join lateral (
    select true as held from subscriptions
    where shop_id = shop and subscription_id between wanted.id and wanted.id
    order by subscription_id limit 1
  ) subscription on payment.failed
  left join lateral (
    select true as stored from dunning_cases
    where shop_id = shop and subscription_id = wanted.id order by position limit 1
  ) cases on true;
  if cardinality(touched) = 0 then return; end if;
  cases := array(select c from dunning_cases_of(shop, held) c);

  select array_agg(distinct d.subscription_id) into outdated
  from unnest(touched) wanted (id)
  cross join lateral (
    select subscription_id, position from dunning_cases
    where shop_id = shop and subscription_id = wanted.id order by position offset 0
  ) d
  where (d.subscription_id, d.position) not in (select c.subscription_id, c.position from unnest(cases) c);
  if outdated is not null then
    delete from dunning_cases d
    where d.shop_id = shop and d.subscription_id = any (outdated)
      and (d.subscription_id, d.position) not in (select c.subscription_id, c.position from unnest(cases) c);
  end if;

  insert into dunning_cases (shop_id, subscription_id, position, opened_at, closed_at, result, amount,
    failure_code, attempts)
  select m.shop_id, c.*
  from metric_shops m
  cross join unnest(cases) c
  left join lateral (
    select * from dunning_cases
    where shop_id = shop and subscription_id between c.subscription_id and c.subscription_id
      and position = c.position
    order by subscription_id limit 1
  ) d on true
  where m.shop_id = shop
    and (d.opened_at, d.closed_at, d.result, d.amount, d.failure_code, d.attempts)
      is distinct from (c.opened_at, c.closed_at, c.result, c.amount, c.failure_code, c.attempts)
  on conflict (shop_id, subscription_id, position) do update set
    opened_at = excluded.opened_at, closed_at = excluded.closed_at, result = excluded.result,
    amount = excluded.amount, failure_code = excluded.failure_code, attempts = excluded.attempts;
end $$;
