-- What held until something followed. The ledger counts a subscription by its final status, and a billing cycle at its
-- last failure; this corrects it for an instant in between, so that a period that ended long ago is found as fast as
-- the current one (docs/decisions/0020-ledger.md).
--
-- * `cancelled`, `expired` or `failed`: the subscription was that from `since` to `until`, when another status
--   followed. Of several changes at one instant, only the last counts.
-- * `cycle_failed`: a cycle failed at `until`, and before that at `since`.

-- Each reach is looked for in an interval of that length: so at least a quarter of what is read is needed, as far as
-- facts are spread evenly.
create or replace function superseded_reach(since timestamptz, until timestamptz) returns smallint
language sql immutable as $$
  select coalesce(min(days), 32767)::smallint from unnest('{1,4,16,64,256,1024}'::integer[]) days
  where until - since <= days * interval '24 hours'
$$;

-- The superseded facts of some subscriptions, from their changes of status and failed payments.
create or replace function superseded_facts_of(shop bigint, subscription_ids bigint[])
returns setof superseded_fact language plpgsql stable as $$
begin
  return query
  with changes as (
    select e.subscription_id, e.position, e.at, e.to_status,
      e.to_status in ('active', 'paused') as is_live,
      e.from_status in ('active', 'paused') and e.to_status not in ('active', 'paused') as leaves
    from unnest(subscription_ids) wanted (id)
    cross join lateral (
      select * from subscriptions
      where shop_id = shop and subscription_id between wanted.id and wanted.id
      order by subscription_id limit 1
    ) s
    cross join lateral (
      select * from status_events where shop_id = shop and subscription_id = wanted.id
      order by position offset 0
    ) e
    where s.status_since is not null
  ),
  statuses as (
    select c.*, lead(c.at) over past as until, max(c.at) filter (where c.leaves) over past as left_at,
      max(c.position) filter (where c.is_live) over whole as last_live,
      last_value(c.to_status) over whole as last_status
    from changes c
    window past as (partition by c.subscription_id order by c.position),
      whole as (partition by c.subscription_id order by c.position
        rows between unbounded preceding and unbounded following)
  ),
  failures as (
    select p.subscription_id, p.cycle, min(p.processed_at) as first, max(p.processed_at) as last,
      lag(max(p.processed_at)) over (
        partition by p.subscription_id, p.cycle order by max(p.processed_at)
      ) as previous
    from unnest(subscription_ids) wanted (id)
    cross join lateral (
      select * from payments
      where shop_id = shop and subscription_id between wanted.id and wanted.id
        and status = 'failed' and failure_kind is distinct from 'inventory'
      order by subscription_id, cycle, processed_at offset 0
    ) p
    group by p.subscription_id, p.cycle, metric_day(p.processed_at)
  )
  -- Several changes of a subscription at one instant leave only the last of their statuses.
  select s.subscription_id, s.to_status, '', s.until, s.at, coalesce(s.left_at, s.at),
    coalesce(became.to_status, s.to_status),
    case when s.last_live > s.position then '' else s.last_status end,
    superseded_reach(s.at, s.until)
  from statuses s
  left join lateral (
    select e.to_status from status_events e
    where e.shop_id = shop and e.subscription_id = s.subscription_id and e.at = s.left_at
    order by e.position desc limit 1
  ) became on true
  where not s.is_live and s.until > s.at
  union all
  select f.subscription_id, 'cycle_failed', f.cycle, f.last, coalesce(f.previous, f.first), f.first, '', '',
    superseded_reach(coalesce(f.previous, f.first), f.last)
  from failures f where coalesce(f.previous, f.first) < f.last;
end $$;

create or replace function refresh_superseded_facts(shop bigint, subscription_ids bigint[])
returns void language plpgsql as $$
declare
  facts superseded_fact[];
  outdated bigint[];
begin
  if cardinality(subscription_ids) = 0 then return; end if;
  facts := array(select f from superseded_facts_of(shop, subscription_ids) f);

  select array_agg(distinct s.subscription_id) into outdated
  from unnest(subscription_ids) wanted (id)
  cross join lateral (
    select subscription_id, fact, cycle, until from superseded_facts
    where shop_id = shop and subscription_id = wanted.id order by fact, cycle, until offset 0
  ) s
  where (s.subscription_id, s.fact, s.cycle, s.until)
    not in (select f.subscription_id, f.fact, f.cycle, f.until from unnest(facts) f);
  if outdated is not null then
    delete from superseded_facts s
    where s.shop_id = shop and s.subscription_id = any (outdated)
      and (s.subscription_id, s.fact, s.cycle, s.until)
        not in (select f.subscription_id, f.fact, f.cycle, f.until from unnest(facts) f);
  end if;

  insert into superseded_facts (shop_id, subscription_id, fact, cycle, until, since, began_at, left_as,
    final, reach)
  select m.shop_id, f.*
  from metric_shops m
  cross join unnest(facts) f
  left join lateral (
    select * from superseded_facts
    where shop_id = shop and subscription_id between f.subscription_id and f.subscription_id
      and fact = f.fact and cycle = f.cycle and until = f.until
    order by subscription_id limit 1
  ) s on true
  where m.shop_id = shop
    and (s.since, s.began_at, s.left_as, s.final, s.reach)
      is distinct from (f.since, f.began_at, f.left_as, f.final, f.reach)
  on conflict (shop_id, subscription_id, fact, cycle, until) do update set
    since = excluded.since, began_at = excluded.began_at, left_as = excluded.left_as,
    final = excluded.final, reach = excluded.reach;
end $$;
