CREATE SCHEMA ingest;

CREATE SCHEMA owners;

CREATE SCHEMA platforms;

CREATE SCHEMA served;

CREATE SCHEMA shopify;

CREATE TYPE public.active_change AS (
	fact text,
	count integer,
	amount numeric
);

CREATE TYPE public.departure AS (
	subscription_id bigint,
	left_at timestamp with time zone,
	plan_id bigint,
	cause text,
	age_days integer,
	value numeric
);

CREATE TYPE public.dunning_case AS (
	subscription_id bigint,
	"position" integer,
	opened_at timestamp with time zone,
	closed_at timestamp with time zone,
	result text,
	amount numeric,
	failure_code text,
	attempts integer
);

CREATE TYPE public.failed_cycle AS (
	subscription_id bigint,
	cycle text,
	failed_at timestamp with time zone,
	is_last boolean
);

CREATE TYPE public.ledger_fact AS (
	fact text,
	at timestamp with time zone,
	count bigint,
	amount numeric
);

CREATE TYPE public.price_change AS (
	subscription_id bigint,
	at timestamp with time zone,
	plan_id bigint,
	was numeric,
	became numeric,
	left_at timestamp with time zone,
	lost numeric
);

CREATE TYPE public.subscriber_change AS (
	customer_id bigint,
	at timestamp with time zone,
	new_subscriber integer,
	subscriber integer,
	paused_subscriber integer,
	live integer,
	cancelled integer,
	cancelled_before integer,
	churned integer,
	expired integer,
	active public.active_change[],
	churned_failed integer,
	cohort text,
	trial integer,
	trial_amount numeric,
	paused_undated integer
);

CREATE TYPE public.superseded_fact AS (
	subscription_id bigint,
	fact text,
	cycle text,
	until timestamp with time zone,
	since timestamp with time zone,
	began_at timestamp with time zone,
	left_as text,
	final text,
	reach smallint
);

CREATE FUNCTION owners.append_key_entry(shop bigint, instant timestamp with time zone, owner uuid, act text, key_id text, key_name text) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
  perform append_audit_entry(
    shop,
    instant,
    coalesce('owner ' || owner, case act when 'key_uninstalled' then 'platform' else 'command line' end),
    null,
    act,
    key_id || ' ' || key_name,
    null,
    false
  );
end $$;

CREATE FUNCTION owners.enter_in_audit_log() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  if tg_op = 'DELETE' then return old; end if;
  perform owners.append_key_entry(new.shop_id, new.at, new.owner_id, new.action, new.key_id, new.key_name);
  return new;
end $$;

CREATE FUNCTION public.add_to_ledger(shop bigint, facts public.ledger_fact[]) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
  written record;
begin
  if cardinality(facts) = 0 then return; end if;
  for written in
    insert into metric_ledger as l (shop_id, grain, bucket, fact, count, amount)
    select m.shop_id, b.grain, b.bucket, f.fact, sum(f.count), trim_scale(sum(f.amount))
    from metric_shops m
    cross join unnest(facts) f
    cross join metric_buckets(f.fact, f.at, m.hours_since) b
    where m.shop_id = shop
    group by m.shop_id, b.grain, b.bucket, f.fact
    having sum(f.count) <> 0 or sum(f.amount) <> 0
    order by m.shop_id, b.grain, b.bucket, f.fact
    on conflict (shop_id, grain, bucket, fact) do update
      set count = l.count + excluded.count, amount = trim_scale(l.amount + excluded.amount)
    returning l.grain, l.bucket, l.fact, l.count = 0 and l.amount = 0 as is_empty
  loop
    if written.is_empty then
      delete from metric_ledger
      where shop_id = shop and grain = written.grain and bucket = written.bucket
        and fact = written.fact;
    end if;
  end loop;
end $$;

CREATE FUNCTION public.amounts_at(past_values jsonb, at timestamp with time zone) RETURNS jsonb
    LANGUAGE sql IMMUTABLE
    AS $$
  select case when seen.amounts::text ~ ' \d+ \d+"' then amounts_without_plans(seen.amounts) else seen.amounts end
  from (select amounts_seen(past_values, seen_at(at)) as amounts) seen
$$;

CREATE FUNCTION public.amounts_before(past_values jsonb, at timestamp with time zone) RETURNS jsonb
    LANGUAGE sql IMMUTABLE
    AS $$
  select amounts from values_of(past_values) where since < at and until >= at
$$;

CREATE FUNCTION public.amounts_of(price numeric, other_intervals jsonb) RETURNS jsonb
    LANGUAGE sql IMMUTABLE
    AS $$
  select jsonb_build_object('', price_at(price, other_intervals, '')) || coalesce(other_intervals, '{}')
$$;

CREATE FUNCTION public.amounts_seen(past_values jsonb, seen_at jsonb) RETURNS jsonb
    LANGUAGE sql IMMUTABLE
    AS $_$
  select coalesce(
    jsonb_path_query_array(past_values, 'strict $[*] ? (@[1].type() == "object" && @[0] <= $at)[1]', seen_at) -> -1,
    jsonb_path_query_first(past_values, 'strict $[*] ? (@[1].type() == "object")[1]')
  )
$_$;

CREATE FUNCTION public.amounts_without_plans(amounts jsonb) RETURNS jsonb
    LANGUAGE sql IMMUTABLE
    AS $$
  select jsonb_object_agg(billed, amount) from (
    select without_plan(key) as billed, trim_scale(sum(value::numeric))::text as amount
    from jsonb_each_text(amounts) group by 1
  ) a
$$;

CREATE FUNCTION public.append_audit_entry(shop bigint, instant timestamp with time zone, actor text, via text, act text, object text, origin text, is_limited boolean) RETURNS jsonb
    LANGUAGE plpgsql
    AS $$
declare
  max_limited constant integer := 10;
  exact constant timestamptz(3) := instant;
  this_minute constant timestamptz := metric_minute(instant);
  head record;
  place bigint;
  digest bytea;
begin
  insert into audit_heads (shop_id, number, hash) values (shop, 0, decode(repeat('00', 32), 'hex'))
  on conflict (shop_id) do nothing;
  select h.number, h.hash, h.minute, h.limited, h.omitted into head from audit_heads h where h.shop_id = shop for update;
  if head.omitted > 0 and head.minute <> this_minute then
    update audit_heads set omitted = 0, limited = 0 where shop_id = shop;
    perform append_audit_entry(shop, instant, 'service', null, 'sign_ins_omitted', head.omitted::text, null, false);
    return append_audit_entry(shop, instant, actor, via, act, object, origin, is_limited);
  end if;
  if act is null then return null; end if;
  if is_limited then
    if head.minute = this_minute and head.limited >= max_limited then
      update audit_heads set omitted = omitted + 1 where shop_id = shop;
      return null;
    end if;
    update audit_heads set minute = this_minute,
      limited = case when minute = this_minute then limited + 1 else 1 end
    where shop_id = shop;
  end if;
  place := head.number + 1;
  digest := sha256(head.hash || convert_to(jsonb_build_array(
    shop, place, (extract(epoch from exact) * 1000)::bigint, actor, via, act, object, origin
  )::text, 'UTF8'));
  insert into audit_entries (shop_id, number, at, who, session, what, target, network, previous, hash)
  values (shop, place, exact, actor, via, act, object, origin, head.hash, digest);
  update audit_heads set number = place, hash = digest where shop_id = shop;
  return jsonb_build_object('number', place, 'hash', encode(digest, 'hex'));
end $$;

CREATE FUNCTION public.cancellation_sessions_metrics_delete() RETURNS trigger
    LANGUAGE plpgsql
    AS $$declare
        shops bigint[] := array(select distinct shop_id from (select -1 as sign, * from old_rows) changes order by shop_id);
        shop bigint;
        kept_since timestamptz; facts ledger_fact[]; ids bigint[];
      begin
        if moves_rows() then return null; end if;
        foreach shop in array shops loop
          perform lock_shop(shop);
          select hours_since into kept_since from metric_shops where shop_id = shop;
  facts := array(
    select row(fact, at, sum(sign), 0)::ledger_fact
    from (
      select shop_id, sign, 'session_' || coalesce(outcome, 'open') as fact,
        metric_floor(created_at, kept_since) as at
      from (select -1 as sign, * from old_rows) changes
      union all
      select shop_id, sign, session_fact(outcome, detected_reason, offer_type),
        metric_month(created_at)
      from (select -1 as sign, * from old_rows) changes
    ) facts
    where shop_id = shop
    group by fact, at
    having sum(sign) <> 0
  );
  perform add_to_ledger(shop, facts);
  ids := array(
    select distinct subscription_id from (select -1 as sign, * from old_rows) changes
    where shop_id = shop and outcome = 'saved' and subscription_id is not null
  );
  perform refresh_saved(shop, ids);

        end loop;
        return null;
      end$$;

CREATE FUNCTION public.cancellation_sessions_metrics_insert() RETURNS trigger
    LANGUAGE plpgsql
    AS $$declare
        shops bigint[] := array(select distinct shop_id from (select 1 as sign, * from new_rows) changes order by shop_id);
        shop bigint;
        kept_since timestamptz; facts ledger_fact[]; ids bigint[];
      begin
        if moves_rows() then return null; end if;
        foreach shop in array shops loop
          perform lock_shop(shop);
          select hours_since into kept_since from metric_shops where shop_id = shop;
  facts := array(
    select row(fact, at, sum(sign), 0)::ledger_fact
    from (
      select shop_id, sign, 'session_' || coalesce(outcome, 'open') as fact,
        metric_floor(created_at, kept_since) as at
      from (select 1 as sign, * from new_rows) changes
      union all
      select shop_id, sign, session_fact(outcome, detected_reason, offer_type),
        metric_month(created_at)
      from (select 1 as sign, * from new_rows) changes
    ) facts
    where shop_id = shop
    group by fact, at
    having sum(sign) <> 0
  );
  perform add_to_ledger(shop, facts);
  ids := array(
    select distinct subscription_id from (select 1 as sign, * from new_rows) changes
    where shop_id = shop and outcome = 'saved' and subscription_id is not null
  );
  perform refresh_saved(shop, ids);

        end loop;
        return null;
      end$$;

CREATE FUNCTION public.cancellation_sessions_metrics_update() RETURNS trigger
    LANGUAGE plpgsql
    AS $$declare
        shops bigint[] := array(select distinct shop_id from (select 1 as sign, * from new_rows union all select -1, * from old_rows) changes order by shop_id);
        shop bigint;
        kept_since timestamptz; facts ledger_fact[]; ids bigint[];
      begin
        if moves_rows() then return null; end if;
        foreach shop in array shops loop
          perform lock_shop(shop);
          select hours_since into kept_since from metric_shops where shop_id = shop;
  facts := array(
    select row(fact, at, sum(sign), 0)::ledger_fact
    from (
      select shop_id, sign, 'session_' || coalesce(outcome, 'open') as fact,
        metric_floor(created_at, kept_since) as at
      from (select 1 as sign, * from new_rows union all select -1, * from old_rows) changes
      union all
      select shop_id, sign, session_fact(outcome, detected_reason, offer_type),
        metric_month(created_at)
      from (select 1 as sign, * from new_rows union all select -1, * from old_rows) changes
    ) facts
    where shop_id = shop
    group by fact, at
    having sum(sign) <> 0
  );
  perform add_to_ledger(shop, facts);
  ids := array(
    select distinct subscription_id from (select 1 as sign, * from new_rows union all select -1, * from old_rows) changes
    where shop_id = shop and outcome = 'saved' and subscription_id is not null
  );
  perform refresh_saved(shop, ids);

        end loop;
        return null;
      end$$;

CREATE FUNCTION public.customer_values_in(changes public.subscriber_change[]) RETURNS TABLE(customer_id bigint, since timestamp with time zone, value numeric)
    LANGUAGE sql IMMUTABLE
    AS $$
  select c.customer_id, min(c.at),
    trim_scale(round(coalesce(sum(monthly_amount(a.amount, interval_of_fact(a.fact))), 0), 12))
  from unnest(changes) c
  left join lateral unnest(c.active) a on true
  group by c.customer_id
$$;

CREATE FUNCTION public.customer_values_of(shop bigint, customer_ids bigint[]) RETURNS TABLE(customer_id bigint, since timestamp with time zone, value numeric)
    LANGUAGE plpgsql STABLE
    AS $$
begin
  return query select v.* from customer_values_in(array(select c from subscriber_changes_of(shop, customer_ids) c)) v;
end $$;

CREATE FUNCTION public.delete_source_ids() RETURNS trigger
    LANGUAGE plpgsql
    AS $_$
declare
  shop bigint;
  ids bigint[];
begin
  if moves_rows() then return null; end if;
  for shop in select distinct shop_id from old_rows loop
    execute format('select array_agg(%I) from old_rows where shop_id = $1', tg_argv[1])
      into ids using shop;
    delete from source_ids where shop_id = shop and kind = tg_argv[0] and id = any (ids);
    delete from export_dates where shop_id = shop and kind = tg_argv[0] and id = any (ids);
  end loop;
  return null;
end $_$;

CREATE FUNCTION public.departures_of(shop bigint, subscription_ids bigint[]) RETURNS SETOF public.departure
    LANGUAGE plpgsql STABLE
    AS $$
begin
  return query
  select s.subscription_id, leaving.at, s.plan_id,
    case when became.to_status = 'failed' then 'failed' else 'cancelled' end,
    floor(date_part('epoch', leaving.at - s.created_at) / 86400)::integer,
    worth_until(leaving.at, s.current_price, s.other_intervals, s.past_values, s.trial_ends_at,
      s.own_interval_unit, s.own_interval_count, p.interval_unit, p.interval_count)
  from unnest(subscription_ids) wanted (id)
  cross join lateral (
    select * from subscriptions
    where shop_id = shop and subscription_id between wanted.id and wanted.id
    order by subscription_id limit 1
  ) s
  cross join lateral (
    select interval_unit, interval_count from plans
    where shop_id = shop and plan_id = s.plan_id limit 1
  ) p
  cross join lateral (
    select e.at from status_events e
    where e.shop_id = shop and e.subscription_id = s.subscription_id
      and e.from_status in ('active', 'paused') and e.to_status not in ('active', 'paused')
    order by e.position desc limit 1
  ) leaving
  cross join lateral (
    select e.to_status from status_events e
    where e.shop_id = shop and e.subscription_id = s.subscription_id and e.at = leaving.at
    order by e.position desc limit 1
  ) became
  where s.status in ('cancelled', 'failed') and s.status_since is not null;
end $$;

CREATE FUNCTION public.dunning_cases_metrics_delete() RETURNS trigger
    LANGUAGE plpgsql
    AS $$declare
        shops bigint[] := array(select distinct shop_id from (select -1 as sign, * from old_rows) changes order by shop_id);
        shop bigint;
        kept_since timestamptz; facts ledger_fact[]; ids bigint[]; customer_ids bigint[];
      begin
        if moves_rows() then return null; end if;
        foreach shop in array shops loop
          perform lock_shop(shop);
          select hours_since into kept_since from metric_shops where shop_id = shop;
  facts := array(
    select row(fact, metric_floor(at, kept_since), sum(count), 0)::ledger_fact
    from (
      select shop_id, 'dunning_open' as fact, opened_at as at, sign as count from (select -1 as sign, * from old_rows) changes
      union all
      select shop_id, 'dunning_open', closed_at, -sign from (select -1 as sign, * from old_rows) changes where closed_at is not null
      union all
      select shop_id, 'dunning_' || result, closed_at, sign from (select -1 as sign, * from old_rows) changes where closed_at is not null
    ) facts
    where shop_id = shop
    group by fact, metric_floor(at, kept_since)
  );
  perform add_to_ledger(shop, facts);

        end loop;
        return null;
      end$$;

CREATE FUNCTION public.dunning_cases_metrics_insert() RETURNS trigger
    LANGUAGE plpgsql
    AS $$declare
        shops bigint[] := array(select distinct shop_id from (select 1 as sign, * from new_rows) changes order by shop_id);
        shop bigint;
        kept_since timestamptz; facts ledger_fact[]; ids bigint[]; customer_ids bigint[];
      begin
        if moves_rows() then return null; end if;
        foreach shop in array shops loop
          perform lock_shop(shop);
          select hours_since into kept_since from metric_shops where shop_id = shop;
  facts := array(
    select row(fact, metric_floor(at, kept_since), sum(count), 0)::ledger_fact
    from (
      select shop_id, 'dunning_open' as fact, opened_at as at, sign as count from (select 1 as sign, * from new_rows) changes
      union all
      select shop_id, 'dunning_open', closed_at, -sign from (select 1 as sign, * from new_rows) changes where closed_at is not null
      union all
      select shop_id, 'dunning_' || result, closed_at, sign from (select 1 as sign, * from new_rows) changes where closed_at is not null
    ) facts
    where shop_id = shop
    group by fact, metric_floor(at, kept_since)
  );
  perform add_to_ledger(shop, facts);

        end loop;
        return null;
      end$$;

CREATE FUNCTION public.dunning_cases_metrics_update() RETURNS trigger
    LANGUAGE plpgsql
    AS $$declare
        shops bigint[] := array(select distinct shop_id from (select 1 as sign, * from new_rows union all select -1, * from old_rows) changes order by shop_id);
        shop bigint;
        kept_since timestamptz; facts ledger_fact[]; ids bigint[]; customer_ids bigint[];
      begin
        if moves_rows() then return null; end if;
        foreach shop in array shops loop
          perform lock_shop(shop);
          select hours_since into kept_since from metric_shops where shop_id = shop;
  facts := array(
    select row(fact, metric_floor(at, kept_since), sum(count), 0)::ledger_fact
    from (
      select shop_id, 'dunning_open' as fact, opened_at as at, sign as count from (select 1 as sign, * from new_rows union all select -1, * from old_rows) changes
      union all
      select shop_id, 'dunning_open', closed_at, -sign from (select 1 as sign, * from new_rows union all select -1, * from old_rows) changes where closed_at is not null
      union all
      select shop_id, 'dunning_' || result, closed_at, sign from (select 1 as sign, * from new_rows union all select -1, * from old_rows) changes where closed_at is not null
    ) facts
    where shop_id = shop
    group by fact, metric_floor(at, kept_since)
  );
  perform add_to_ledger(shop, facts);

        end loop;
        return null;
      end$$;

CREATE FUNCTION public.dunning_cases_of(shop bigint, subscription_ids bigint[]) RETURNS SETOF public.dunning_case
    LANGUAGE plpgsql STABLE
    AS $$
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

CREATE FUNCTION public.failed_cycles_metrics_delete() RETURNS trigger
    LANGUAGE plpgsql
    AS $$declare
        shops bigint[] := array(select distinct shop_id from (select -1 as sign, * from old_rows) changes order by shop_id);
        shop bigint;
        kept_since timestamptz; facts ledger_fact[]; ids bigint[]; customer_ids bigint[];
      begin
        if moves_rows() then return null; end if;
        foreach shop in array shops loop
          perform lock_shop(shop);
          select hours_since into kept_since from metric_shops where shop_id = shop;
  facts := array(
    select row(case when is_last then 'cycle_failed' else 'cycle_failed_before' end,
      metric_floor(failed_at, kept_since), sum(sign), 0)::ledger_fact
    from (select -1 as sign, * from old_rows) changes where shop_id = shop
    group by is_last, metric_floor(failed_at, kept_since)
  );
  perform add_to_ledger(shop, facts);

        end loop;
        return null;
      end$$;

CREATE FUNCTION public.failed_cycles_metrics_insert() RETURNS trigger
    LANGUAGE plpgsql
    AS $$declare
        shops bigint[] := array(select distinct shop_id from (select 1 as sign, * from new_rows) changes order by shop_id);
        shop bigint;
        kept_since timestamptz; facts ledger_fact[]; ids bigint[]; customer_ids bigint[];
      begin
        if moves_rows() then return null; end if;
        foreach shop in array shops loop
          perform lock_shop(shop);
          select hours_since into kept_since from metric_shops where shop_id = shop;
  facts := array(
    select row(case when is_last then 'cycle_failed' else 'cycle_failed_before' end,
      metric_floor(failed_at, kept_since), sum(sign), 0)::ledger_fact
    from (select 1 as sign, * from new_rows) changes where shop_id = shop
    group by is_last, metric_floor(failed_at, kept_since)
  );
  perform add_to_ledger(shop, facts);

        end loop;
        return null;
      end$$;

CREATE FUNCTION public.failed_cycles_metrics_update() RETURNS trigger
    LANGUAGE plpgsql
    AS $$declare
        shops bigint[] := array(select distinct shop_id from (select 1 as sign, * from new_rows union all select -1, * from old_rows) changes order by shop_id);
        shop bigint;
        kept_since timestamptz; facts ledger_fact[]; ids bigint[]; customer_ids bigint[];
      begin
        if moves_rows() then return null; end if;
        foreach shop in array shops loop
          perform lock_shop(shop);
          select hours_since into kept_since from metric_shops where shop_id = shop;
  facts := array(
    select row(case when is_last then 'cycle_failed' else 'cycle_failed_before' end,
      metric_floor(failed_at, kept_since), sum(sign), 0)::ledger_fact
    from (select 1 as sign, * from new_rows union all select -1, * from old_rows) changes where shop_id = shop
    group by is_last, metric_floor(failed_at, kept_since)
  );
  perform add_to_ledger(shop, facts);

        end loop;
        return null;
      end$$;

CREATE FUNCTION public.failed_cycles_of(shop bigint, subscription_ids bigint[]) RETURNS SETOF public.failed_cycle
    LANGUAGE plpgsql STABLE
    AS $$
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

CREATE FUNCTION public.find_key_generation() RETURNS uuid
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
begin
  return (select value from key_generation where is_only);
end $$;

CREATE FUNCTION public.find_keys(hashes text[]) RETURNS TABLE(key_hash text, record json)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
begin
  return query
  select requested.hash, json_build_object('shopId', k.shop_id, 'keyId', k.key_id, 'scopes', k.scopes,
    'tier', s.tier, 'currency', s.currency,
    'expiresAt', (date_part('epoch', k.expires_at) * 1000)::bigint,
    'isRevoked', k.revoked_at is not null, 'networks', k.networks,
    'generation', (select value from key_generation where is_only))
  from unnest(hashes) requested (hash),
    lateral (select * from api_keys where hash = decode(requested.hash, 'base64') offset 0) k,
    lateral (select * from shops where shop_id = k.shop_id offset 0) s;
end $$;

CREATE FUNCTION public.hold_shop() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
declare
  changed constant record := case tg_op when 'DELETE' then old else new end;
begin
  perform require_here(changed.shop_id, tg_table_name not like 'batches%');
  return changed;
end $$;

CREATE FUNCTION public.interval_of_fact(fact text) RETURNS text
    LANGUAGE sql IMMUTABLE
    AS $$
  select split_part(fact, ' ', 2) || ' ' || split_part(fact, ' ', 3)
$$;

CREATE FUNCTION public.is_monthly(fact text) RETURNS boolean
    LANGUAGE sql IMMUTABLE
    AS $$
  select fact like 'cohort %' or fact like 'cancel_flow %'
$$;

CREATE FUNCTION public.is_present(fact text) RETURNS boolean
    LANGUAGE sql IMMUTABLE
    AS $$
  select fact like 'present %'
$$;

CREATE FUNCTION public.is_price(fact text) RETURNS boolean
    LANGUAGE sql IMMUTABLE
    AS $$
  select fact like 'price %'
$$;

CREATE FUNCTION public.is_state(fact text) RETURNS boolean
    LANGUAGE sql IMMUTABLE
    AS $$
  select fact in ('subscriber', 'paused_subscriber', 'paused_undated', 'live', 'trial', 'dunning_open')
    or fact like 'active %'
$$;

CREATE FUNCTION public.last_value_change(past_values jsonb) RETURNS timestamp with time zone
    LANGUAGE sql IMMUTABLE
    AS $$
  select case when count(*) > 1 then max(timestamptz 'epoch' + (seen ->> 0)::bigint * interval '1 millisecond') end
  from jsonb_array_elements(past_values) seen where jsonb_typeof(seen -> 1) = 'object'
$$;

CREATE FUNCTION public.lock_shop(shop bigint) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
  perform require_here(shop);
  insert into metric_shops as m (shop_id, writer) values (shop, pg_current_xact_id())
  on conflict (shop_id) do update set writer = excluded.writer
    where m.writer is distinct from excluded.writer;
end $$;

CREATE FUNCTION public.metric_buckets(fact text, at timestamp with time zone, hours_since timestamp with time zone) RETURNS TABLE(grain text, bucket timestamp with time zone)
    LANGUAGE sql IMMUTABLE
    AS $$
  select case when is_monthly(fact) then 'month' when is_state(fact) then 'shift' when is_price(fact) then 'price'
      else 'day' end,
    case when is_monthly(fact) then metric_month(at) else metric_day(at) end
  where not is_present(fact)
  union all
  select case when is_present(fact) then 'present' else 'all' end, timestamptz '-infinity'
  where is_state(fact) or is_present(fact)
  union all
  select v.grain, v.bucket
  from (values ('hour', metric_hour(at)), ('minute', metric_minute(at))) v (grain, bucket)
  where at >= hours_since and not is_state(fact) and not is_monthly(fact) and not is_present(fact)
    and not is_price(fact) and fact not in ('cancelled_before', 'cycle_failed_before')
$$;

CREATE FUNCTION public.metric_day(at timestamp with time zone) RETURNS timestamp with time zone
    LANGUAGE sql IMMUTABLE
    AS $$
  select date_bin('1 day', at, timestamptz 'epoch')
$$;

CREATE FUNCTION public.metric_floor(at timestamp with time zone, kept_since timestamp with time zone) RETURNS timestamp with time zone
    LANGUAGE sql IMMUTABLE
    AS $$
  select case when at >= kept_since then metric_minute(at) else metric_day(at) end
$$;

CREATE FUNCTION public.metric_hour(at timestamp with time zone) RETURNS timestamp with time zone
    LANGUAGE sql IMMUTABLE
    AS $$
  select date_bin('1 hour', at, timestamptz 'epoch')
$$;

CREATE FUNCTION public.metric_minute(at timestamp with time zone) RETURNS timestamp with time zone
    LANGUAGE sql IMMUTABLE
    AS $$
  select date_bin('1 minute', at, timestamptz 'epoch')
$$;

CREATE FUNCTION public.metric_month(at timestamp with time zone) RETURNS timestamp with time zone
    LANGUAGE sql IMMUTABLE
    AS $$
  select date_trunc('month', at at time zone 'UTC') at time zone 'UTC'
$$;

CREATE FUNCTION public.metric_sums_of(shop bigint) RETURNS TABLE(grain text, bucket timestamp with time zone, fact text, count bigint, amount numeric)
    LANGUAGE plpgsql STABLE
    AS $$
declare
  -- First, and apart: a cluster runs the statement below where the shop's rows are, and none within it.
  present ledger_fact[] := array(select row(f.*)::ledger_fact from present_facts_of(shop) f);
begin
  return query
  with facts as (
    select 'paid' as fact, p.processed_at as at, 1::bigint as count, p.amount
    from payments p where p.shop_id = shop and p.status = 'succeeded'
    union all
    select 'refunded', r.refunded_at, 1, r.amount from refunds r where r.shop_id = shop
    union all
    select v.fact, s.created_at, 1, 0
    from cancellation_sessions s
    cross join lateral (values ('session_' || coalesce(s.outcome, 'open')),
      (session_fact(s.outcome, s.detected_reason, s.offer_type))) v (fact)
    where s.shop_id = shop
    union all
    select v.fact, s.next_billing_at, 1, price_at(s.current_price, s.other_intervals, billed.at)
    from subscriptions s
    cross join lateral (
      select * from plans where shop_id = shop and plan_id = s.plan_id limit 1
    ) p
    cross join lateral (values (coalesce(s.own_interval_unit, p.interval_unit)
      || ' ' || coalesce(s.own_interval_count, p.interval_count))) billed (at)
    cross join lateral (values ('renewal'), ('due ' || billed.at)) v (fact)
    where s.shop_id = shop and s.status = 'active' and s.next_billing_at is not null
    union all
    select f.fact, f.at, f.count, f.amount from unnest(present) f
    union all
    select f.fact, f.at, f.count::bigint, f.amount from subscriber_facts f where f.shop_id = shop
    union all
    select case when c.is_last then 'cycle_failed' else 'cycle_failed_before' end, c.failed_at, 1, 0
    from failed_cycles c where c.shop_id = shop
    union all
    select v.fact, v.at, v.count, 0
    from dunning_cases d
    cross join lateral (values
      ('dunning_open', d.opened_at, 1), ('dunning_open', d.closed_at, -1),
      ('dunning_' || d.result, d.closed_at, 1)
    ) v (fact, at, count)
    where d.shop_id = shop and v.at is not null
    union all
    select f.fact, c.at, f.count, f.amount
    from price_changes c
    cross join lateral price_facts(c.plan_id, c.at, c.was, c.became, c.left_at, c.lost) f
    where c.shop_id = shop
  )
  select b.grain, b.bucket, f.fact, sum(f.count)::bigint, trim_scale(sum(f.amount))
  from metric_shops m
  cross join facts f
  cross join metric_buckets(f.fact, f.at, m.hours_since) b
  where m.shop_id = shop
  group by b.grain, b.bucket, f.fact
  having sum(f.count) <> 0 or sum(f.amount) <> 0;
end $$;

CREATE FUNCTION public.monthly_amount(amount numeric, billed text) RETURNS numeric
    LANGUAGE sql IMMUTABLE
    AS $$
  select round(amount, 40) * case when split_part(billed, ' ', 1) in ('day', 'week') then 365 else 1 end
    / (split_part(billed, ' ', 2)::integer
      * case split_part(billed, ' ', 1) when 'week' then 84 when 'month' then 1 else 12 end)
$$;

CREATE FUNCTION public.move_lock(shop bigint) RETURNS bigint
    LANGUAGE sql IMMUTABLE
    AS $$
  select hashtextextended('retention hold ' || shop, 0)
$$;

CREATE FUNCTION public.moves_rows() RETURNS boolean
    LANGUAGE sql STABLE
    AS $$
  select coalesce(current_setting('retention.moves_rows', true) = 'on', false)
$$;

CREATE FUNCTION public.note_key_change() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
begin
  update key_generation set value = gen_random_uuid(), changed_by = pg_current_xact_id()
  where is_only and changed_by is distinct from pg_current_xact_id();
  return null;
end $$;

CREATE FUNCTION public.payments_metrics_delete() RETURNS trigger
    LANGUAGE plpgsql
    AS $$declare
        shops bigint[] := array(select distinct shop_id from (select -1 as sign, * from old_rows) changes order by shop_id);
        shop bigint;
        kept_since timestamptz; facts ledger_fact[]; ids bigint[]; customer_ids bigint[];
      begin
        if moves_rows() then return null; end if;
        foreach shop in array shops loop
          perform lock_shop(shop);
          select hours_since into kept_since from metric_shops where shop_id = shop;
  facts := array(
    select row('paid', metric_floor(processed_at, kept_since), sum(sign), sum(sign * amount))::ledger_fact
    from (select -1 as sign, * from old_rows) changes where shop_id = shop and status = 'succeeded'
    group by metric_floor(processed_at, kept_since)
    having sum(sign) <> 0 or sum(sign * amount) <> 0
  );
  perform add_to_ledger(shop, facts);
  ids := array(
    select distinct subscription_id from (select -1 as sign, * from old_rows) changes
    where shop_id = shop and status = 'failed' and failure_kind is distinct from 'inventory'
  );
  perform refresh_failed_cycles(shop, ids);
  ids := array(
    select distinct subscription_id from (select -1 as sign, * from old_rows) changes
    where shop_id = shop and (status = 'succeeded'
      or status = 'failed' and failure_kind is distinct from 'inventory')
  );
  perform refresh_dunning(shop, ids);

        end loop;
        return null;
      end$$;

CREATE FUNCTION public.payments_metrics_insert() RETURNS trigger
    LANGUAGE plpgsql
    AS $$declare
        shops bigint[] := array(select distinct shop_id from (select 1 as sign, * from new_rows) changes order by shop_id);
        shop bigint;
        kept_since timestamptz; facts ledger_fact[]; ids bigint[]; customer_ids bigint[];
      begin
        if moves_rows() then return null; end if;
        foreach shop in array shops loop
          perform lock_shop(shop);
          select hours_since into kept_since from metric_shops where shop_id = shop;
  facts := array(
    select row('paid', metric_floor(processed_at, kept_since), sum(sign), sum(sign * amount))::ledger_fact
    from (select 1 as sign, * from new_rows) changes where shop_id = shop and status = 'succeeded'
    group by metric_floor(processed_at, kept_since)
    having sum(sign) <> 0 or sum(sign * amount) <> 0
  );
  perform add_to_ledger(shop, facts);
  ids := array(
    select distinct subscription_id from (select 1 as sign, * from new_rows) changes
    where shop_id = shop and status = 'failed' and failure_kind is distinct from 'inventory'
  );
  perform refresh_failed_cycles(shop, ids);
  ids := array(
    select distinct subscription_id from (select 1 as sign, * from new_rows) changes
    where shop_id = shop and (status = 'succeeded'
      or status = 'failed' and failure_kind is distinct from 'inventory')
  );
  perform refresh_dunning(shop, ids);

        end loop;
        return null;
      end$$;

CREATE FUNCTION public.payments_metrics_update() RETURNS trigger
    LANGUAGE plpgsql
    AS $$declare
        shops bigint[] := array(select distinct shop_id from (select 1 as sign, * from new_rows union all select -1, * from old_rows) changes order by shop_id);
        shop bigint;
        kept_since timestamptz; facts ledger_fact[]; ids bigint[]; customer_ids bigint[];
      begin
        if moves_rows() then return null; end if;
        foreach shop in array shops loop
          perform lock_shop(shop);
          select hours_since into kept_since from metric_shops where shop_id = shop;
  facts := array(
    select row('paid', metric_floor(processed_at, kept_since), sum(sign), sum(sign * amount))::ledger_fact
    from (select 1 as sign, * from new_rows union all select -1, * from old_rows) changes where shop_id = shop and status = 'succeeded'
    group by metric_floor(processed_at, kept_since)
    having sum(sign) <> 0 or sum(sign * amount) <> 0
  );
  perform add_to_ledger(shop, facts);
  ids := array(
    select distinct subscription_id from (select 1 as sign, * from new_rows union all select -1, * from old_rows) changes
    where shop_id = shop and status = 'failed' and failure_kind is distinct from 'inventory'
  );
  perform refresh_failed_cycles(shop, ids);
  ids := array(
    select distinct subscription_id from (select 1 as sign, * from new_rows union all select -1, * from old_rows) changes
    where shop_id = shop and (status = 'succeeded'
      or status = 'failed' and failure_kind is distinct from 'inventory')
  );
  perform refresh_dunning(shop, ids);

        end loop;
        return null;
      end$$;

CREATE FUNCTION public.plans_metrics_delete() RETURNS trigger
    LANGUAGE plpgsql
    AS $$declare
        shops bigint[] := array(select distinct shop_id from (select -1 as sign, * from old_rows) changes order by shop_id);
        shop bigint;
        kept_since timestamptz; facts ledger_fact[]; ids bigint[]; plan_ids bigint[]; customer_ids bigint[]; left_ids bigint[];
  valued_ids bigint[];
  units text[]; cycles integer[]; times timestamptz[]; counts bigint[]; amounts numeric[];
      begin
        if moves_rows() then return null; end if;
        foreach shop in array shops loop
          perform lock_shop(shop);
          select hours_since into kept_since from metric_shops where shop_id = shop;
  ids := array(
    select plan_id from (select -1 as sign, * from old_rows) changes where shop_id = shop
    group by plan_id, interval_unit, interval_count having sum(sign) <> 0
  );
  select array_agg(plan_id), array_agg(interval_unit), array_agg(interval_count), array_agg(sign)
  into plan_ids, units, cycles, counts
  from (select -1 as sign, * from old_rows) changes where shop_id = shop and plan_id = any (ids);
  facts := array(
    select row(v.fact, metric_floor(s.next_billing_at, kept_since), sum(c.sign), sum(c.sign * s.price))::ledger_fact
    from unnest(plan_ids, units, cycles, counts) c (plan_id, unit, cycles, sign)
    cross join lateral (
      select status, own_interval_unit, next_billing_at,
        price_at(current_price, other_intervals, c.unit || ' ' || c.cycles) as price
      from subscriptions
      where shop_id = shop and plan_id between c.plan_id and c.plan_id
      order by plan_id offset 0
    ) s
    cross join lateral (values ('renewal'), ('due ' || c.unit || ' ' || c.cycles)) v (fact)
    where s.status = 'active' and s.own_interval_unit is null and s.next_billing_at is not null
    group by v.fact, metric_floor(s.next_billing_at, kept_since)
    having sum(c.sign) <> 0 or sum(c.sign * s.price) <> 0
  );
  perform add_to_ledger(shop, facts);
  select coalesce(array_agg(distinct s.customer_id), '{}'), coalesce(array_agg(distinct s.subscription_id), '{}'),
    coalesce(array_agg(distinct s.subscription_id) filter (where s.status in ('cancelled', 'failed')), '{}')
  into customer_ids, valued_ids, left_ids
  from unnest(ids) changed (id)
  cross join lateral (
    select customer_id, subscription_id, status from subscriptions
    where shop_id = shop and plan_id between changed.id and changed.id
      and (own_interval_unit is null or past_values is not null)
    order by plan_id offset 0
  ) s;
  perform refresh_subscribers(shop, customer_ids);
  perform refresh_subscription_values(shop, valued_ids);
  perform refresh_departures(shop, left_ids);
  perform refresh_price_changes(shop, valued_ids);

        end loop;
        return null;
      end$$;

CREATE FUNCTION public.plans_metrics_insert() RETURNS trigger
    LANGUAGE plpgsql
    AS $$declare
        shops bigint[] := array(select distinct shop_id from (select 1 as sign, * from new_rows) changes order by shop_id);
        shop bigint;
        kept_since timestamptz; facts ledger_fact[]; ids bigint[]; plan_ids bigint[]; customer_ids bigint[]; left_ids bigint[];
  valued_ids bigint[];
  units text[]; cycles integer[]; times timestamptz[]; counts bigint[]; amounts numeric[];
      begin
        if moves_rows() then return null; end if;
        foreach shop in array shops loop
          perform lock_shop(shop);
          select hours_since into kept_since from metric_shops where shop_id = shop;
  ids := array(
    select plan_id from (select 1 as sign, * from new_rows) changes where shop_id = shop
    group by plan_id, interval_unit, interval_count having sum(sign) <> 0
  );
  select array_agg(plan_id), array_agg(interval_unit), array_agg(interval_count), array_agg(sign)
  into plan_ids, units, cycles, counts
  from (select 1 as sign, * from new_rows) changes where shop_id = shop and plan_id = any (ids);
  facts := array(
    select row(v.fact, metric_floor(s.next_billing_at, kept_since), sum(c.sign), sum(c.sign * s.price))::ledger_fact
    from unnest(plan_ids, units, cycles, counts) c (plan_id, unit, cycles, sign)
    cross join lateral (
      select status, own_interval_unit, next_billing_at,
        price_at(current_price, other_intervals, c.unit || ' ' || c.cycles) as price
      from subscriptions
      where shop_id = shop and plan_id between c.plan_id and c.plan_id
      order by plan_id offset 0
    ) s
    cross join lateral (values ('renewal'), ('due ' || c.unit || ' ' || c.cycles)) v (fact)
    where s.status = 'active' and s.own_interval_unit is null and s.next_billing_at is not null
    group by v.fact, metric_floor(s.next_billing_at, kept_since)
    having sum(c.sign) <> 0 or sum(c.sign * s.price) <> 0
  );
  perform add_to_ledger(shop, facts);
  select coalesce(array_agg(distinct s.customer_id), '{}'), coalesce(array_agg(distinct s.subscription_id), '{}'),
    coalesce(array_agg(distinct s.subscription_id) filter (where s.status in ('cancelled', 'failed')), '{}')
  into customer_ids, valued_ids, left_ids
  from unnest(ids) changed (id)
  cross join lateral (
    select customer_id, subscription_id, status from subscriptions
    where shop_id = shop and plan_id between changed.id and changed.id
      and (own_interval_unit is null or past_values is not null)
    order by plan_id offset 0
  ) s;
  perform refresh_subscribers(shop, customer_ids);
  perform refresh_subscription_values(shop, valued_ids);
  perform refresh_departures(shop, left_ids);
  perform refresh_price_changes(shop, valued_ids);

        end loop;
        return null;
      end$$;

CREATE FUNCTION public.plans_metrics_update() RETURNS trigger
    LANGUAGE plpgsql
    AS $$declare
        shops bigint[] := array(select distinct shop_id from (select 1 as sign, * from new_rows union all select -1, * from old_rows) changes order by shop_id);
        shop bigint;
        kept_since timestamptz; facts ledger_fact[]; ids bigint[]; plan_ids bigint[]; customer_ids bigint[]; left_ids bigint[];
  valued_ids bigint[];
  units text[]; cycles integer[]; times timestamptz[]; counts bigint[]; amounts numeric[];
      begin
        if moves_rows() then return null; end if;
        foreach shop in array shops loop
          perform lock_shop(shop);
          select hours_since into kept_since from metric_shops where shop_id = shop;
  ids := array(
    select plan_id from (select 1 as sign, * from new_rows union all select -1, * from old_rows) changes where shop_id = shop
    group by plan_id, interval_unit, interval_count having sum(sign) <> 0
  );
  select array_agg(plan_id), array_agg(interval_unit), array_agg(interval_count), array_agg(sign)
  into plan_ids, units, cycles, counts
  from (select 1 as sign, * from new_rows union all select -1, * from old_rows) changes where shop_id = shop and plan_id = any (ids);
  facts := array(
    select row(v.fact, metric_floor(s.next_billing_at, kept_since), sum(c.sign), sum(c.sign * s.price))::ledger_fact
    from unnest(plan_ids, units, cycles, counts) c (plan_id, unit, cycles, sign)
    cross join lateral (
      select status, own_interval_unit, next_billing_at,
        price_at(current_price, other_intervals, c.unit || ' ' || c.cycles) as price
      from subscriptions
      where shop_id = shop and plan_id between c.plan_id and c.plan_id
      order by plan_id offset 0
    ) s
    cross join lateral (values ('renewal'), ('due ' || c.unit || ' ' || c.cycles)) v (fact)
    where s.status = 'active' and s.own_interval_unit is null and s.next_billing_at is not null
    group by v.fact, metric_floor(s.next_billing_at, kept_since)
    having sum(c.sign) <> 0 or sum(c.sign * s.price) <> 0
  );
  perform add_to_ledger(shop, facts);
  select coalesce(array_agg(distinct s.customer_id), '{}'), coalesce(array_agg(distinct s.subscription_id), '{}'),
    coalesce(array_agg(distinct s.subscription_id) filter (where s.status in ('cancelled', 'failed')), '{}')
  into customer_ids, valued_ids, left_ids
  from unnest(ids) changed (id)
  cross join lateral (
    select customer_id, subscription_id, status from subscriptions
    where shop_id = shop and plan_id between changed.id and changed.id
      and (own_interval_unit is null or past_values is not null)
    order by plan_id offset 0
  ) s;
  perform refresh_subscribers(shop, customer_ids);
  perform refresh_subscription_values(shop, valued_ids);
  perform refresh_departures(shop, left_ids);
  perform refresh_price_changes(shop, valued_ids);

        end loop;
        return null;
      end$$;

CREATE FUNCTION public.present_fact(status text, plan_id bigint, price numeric, own_unit text, own_count integer, feed text) RETURNS text
    LANGUAGE sql IMMUTABLE
    AS $$
  select 'present ' || status || ' ' || plan_id::text || ' ' || price_band(price)::text || ' ' || coalesce(own_unit, '')
    || ' ' || coalesce(own_count::text, '') || ' ' || coalesce(feed, '')
$$;

CREATE FUNCTION public.present_facts_of(shop bigint) RETURNS SETOF public.ledger_fact
    LANGUAGE plpgsql STABLE
    AS $$
begin
  return query
  select present_fact(s.status, s.plan_id, s.current_price, s.own_interval_unit, s.own_interval_count, s.feed),
    timestamptz '-infinity', count(*), sum(s.current_price)
  from unnest('{active,paused}'::text[]) is_now (status)
  cross join lateral (
    select * from subscriptions
    where shop_id = shop and status between is_now.status and is_now.status and status_since is not null
    order by status, created_at, subscription_id offset 0
  ) s
  group by s.status, s.plan_id, s.current_price, s.own_interval_unit, s.own_interval_count, s.feed;
end $$;

CREATE FUNCTION public.price_apart(price numeric, other_intervals jsonb, billed text) RETURNS numeric
    LANGUAGE sql IMMUTABLE
    AS $$
  select price - coalesce(sum(value::numeric), 0) from jsonb_each_text(other_intervals) where key <> billed
$$;

CREATE FUNCTION public.price_at(price numeric, other_intervals jsonb, billed text) RETURNS numeric
    LANGUAGE sql IMMUTABLE
    AS $$
  select case when other_intervals is null then price else price_apart(price, other_intervals, billed) end
$$;

CREATE FUNCTION public.price_band(price numeric) RETURNS integer
    LANGUAGE sql IMMUTABLE
    AS $$
  select width_bucket(price, '{0,1,2,3,5,10,20,30,50,100,200,300,500,1000,2000,3000,5000,10000,20000,30000,50000,100000,
    200000,300000,500000,1000000,2000000,3000000,5000000,10000000,20000000,30000000,50000000,100000000,200000000,300000000,
    500000000,1000000000,2000000000,3000000000,5000000000}'::numeric[]) - 1
$$;

CREATE FUNCTION public.price_changes_metrics_delete() RETURNS trigger
    LANGUAGE plpgsql
    AS $$declare
        shops bigint[] := array(select distinct shop_id from (select -1 as sign, * from old_rows) changes order by shop_id);
        shop bigint;
        facts ledger_fact[];
      begin
        if moves_rows() then return null; end if;
        foreach shop in array shops loop
          perform lock_shop(shop);
  facts := array(
    select row(f.fact, metric_day(at), sum(sign * f.count), sum(sign * f.amount))::ledger_fact
    from (select -1 as sign, * from old_rows) changes cross join lateral price_facts(plan_id, at, was, became, left_at, lost) f
    where shop_id = shop
    group by f.fact, metric_day(at)
    having sum(sign * f.count) <> 0 or sum(sign * f.amount) <> 0
  );
  perform add_to_ledger(shop, facts);

        end loop;
        return null;
      end$$;

CREATE FUNCTION public.price_changes_metrics_insert() RETURNS trigger
    LANGUAGE plpgsql
    AS $$declare
        shops bigint[] := array(select distinct shop_id from (select 1 as sign, * from new_rows) changes order by shop_id);
        shop bigint;
        facts ledger_fact[];
      begin
        if moves_rows() then return null; end if;
        foreach shop in array shops loop
          perform lock_shop(shop);
  facts := array(
    select row(f.fact, metric_day(at), sum(sign * f.count), sum(sign * f.amount))::ledger_fact
    from (select 1 as sign, * from new_rows) changes cross join lateral price_facts(plan_id, at, was, became, left_at, lost) f
    where shop_id = shop
    group by f.fact, metric_day(at)
    having sum(sign * f.count) <> 0 or sum(sign * f.amount) <> 0
  );
  perform add_to_ledger(shop, facts);

        end loop;
        return null;
      end$$;

CREATE FUNCTION public.price_changes_metrics_update() RETURNS trigger
    LANGUAGE plpgsql
    AS $$declare
        shops bigint[] := array(select distinct shop_id from (select 1 as sign, * from new_rows union all select -1, * from old_rows) changes order by shop_id);
        shop bigint;
        facts ledger_fact[];
      begin
        if moves_rows() then return null; end if;
        foreach shop in array shops loop
          perform lock_shop(shop);
  facts := array(
    select row(f.fact, metric_day(at), sum(sign * f.count), sum(sign * f.amount))::ledger_fact
    from (select 1 as sign, * from new_rows union all select -1, * from old_rows) changes cross join lateral price_facts(plan_id, at, was, became, left_at, lost) f
    where shop_id = shop
    group by f.fact, metric_day(at)
    having sum(sign * f.count) <> 0 or sum(sign * f.amount) <> 0
  );
  perform add_to_ledger(shop, facts);

        end loop;
        return null;
      end$$;

CREATE FUNCTION public.price_changes_of(shop bigint, subscription_ids bigint[]) RETURNS SETOF public.price_change
    LANGUAGE plpgsql STABLE
    AS $$
begin
  return query
  select s.subscription_id, changed.at, s.plan_id, changed.was, changed.became, d.left_at, d.value
  from unnest(subscription_ids) wanted (id)
  cross join lateral (
    select * from subscriptions
    where shop_id = shop and subscription_id between wanted.id and wanted.id
    order by subscription_id limit 1
  ) s
  cross join lateral (
    select interval_unit || ' ' || interval_count as billed from plans
    where shop_id = shop and plan_id = s.plan_id limit 1
  ) p
  cross join lateral (
    select v.since as at, lag(v.value) over (order by v.since) as was, v.value as became from (
      select since, trim_scale(round(worth_of(amounts, p.billed), 12)) as value from values_of(s.past_values)
    ) v
  ) changed
  left join lateral (
    select e.to_status from status_events e
    where e.shop_id = shop and e.subscription_id = s.subscription_id and e.at < changed.at
    order by e.position desc limit 1
  ) before on true
  left join lateral (
    select e.to_status from status_events e
    where e.shop_id = shop and e.subscription_id = s.subscription_id and e.at <= changed.at
    order by e.position desc limit 1
  ) since on true
  left join lateral (
    select left_at, value from departures
    where shop_id = shop and subscription_id between s.subscription_id and s.subscription_id
    order by subscription_id limit 1
  ) d on true
  where s.past_values is not null and s.status_since is not null and changed.at > s.created_at
    and (changed.at <= s.trial_ends_at) is not true and round(changed.became - changed.was, 2) <> 0
    and coalesce(before.to_status, 'active') = 'active' and coalesce(since.to_status, 'active') = 'active';
end $$;

CREATE FUNCTION public.price_facts(plan_id bigint, at timestamp with time zone, was numeric, became numeric, left_at timestamp with time zone, lost numeric) RETURNS TABLE(fact text, count integer, amount numeric)
    LANGUAGE sql IMMUTABLE
    AS $$
  select 'price ' || case when became > was then 'rose ' else 'fell ' end || plan_id::text || v.part, v.count, v.amount
  from (values ('', 1, became - was), (' was', 0, was)) v (part, count, amount)
  union all
  select 'price ' || case when became > was then 'rose ' else 'fell ' end || plan_id::text || ' ' || days::text, 1, lost
  from unnest('{30,60,90}'::integer[]) days
  where left_at - at < days * interval '1 day'
$$;

CREATE FUNCTION public.price_in(amounts jsonb, counts boolean) RETURNS numeric
    LANGUAGE sql IMMUTABLE
    AS $$
  select coalesce(sum(value::numeric), 0) from jsonb_each_text(amounts) where counts
$$;

CREATE FUNCTION public.prices_by_interval(price numeric, other_intervals jsonb, billed text) RETURNS TABLE(billed_at text, price_then numeric, subscriptions integer)
    LANGUAGE sql IMMUTABLE
    AS $_$
  select * from prices_by_interval($1, $2, $3, null, null)
$_$;

CREATE FUNCTION public.prices_by_interval(price numeric, other_intervals jsonb, billed text, amounts jsonb, billed_by_plan text) RETURNS TABLE(billed_at text, price_then numeric, subscriptions integer)
    LANGUAGE sql IMMUTABLE
    AS $_$
  select $3, case when $4 is null then price_at($1, $2, '') else 0 end, 1
  union all
  select coalesce(nullif(key, ''), $5), value::numeric, 0 from jsonb_each_text(coalesce($4, $2))
$_$;

CREATE FUNCTION public.rebuild_all_metrics() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  perform rebuild_metrics(shop_id) from shops order by shop_id;
  return null;
end $$;

CREATE FUNCTION public.rebuild_metrics(shop bigint) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
  slice constant integer := 10000;
  ids bigint[];
  last bigint := 0;
begin
  perform lock_shop(shop);
  delete from subscriber_changes where shop_id = shop;
  delete from customer_values where shop_id = shop;
  delete from subscription_values where shop_id = shop;
  delete from failed_cycles where shop_id = shop;
  delete from departures where shop_id = shop;
  delete from price_changes where shop_id = shop;
  delete from superseded_facts where shop_id = shop;
  loop
    select array_agg(c.customer_id order by c.customer_id) into ids
    from (
      select customer_id from customers where shop_id = shop and customer_id > last
      order by customer_id limit slice
    ) c;
    exit when ids is null;
    perform refresh_subscribers(shop, ids);
    last := ids[cardinality(ids)];
  end loop;
  last := 0;
  loop
    select array_agg(s.subscription_id order by s.subscription_id) into ids
    from (
      select subscription_id from subscriptions where shop_id = shop and subscription_id > last
      order by subscription_id limit slice
    ) s;
    exit when ids is null;
    perform refresh_failed_cycles(shop, ids);
    perform refresh_dunning(shop, ids);
    perform refresh_departures(shop, ids);
    perform refresh_price_changes(shop, ids);
    perform refresh_subscription_values(shop, ids);
    last := ids[cardinality(ids)];
  end loop;

  delete from metric_ledger where shop_id = shop;
  insert into metric_ledger (shop_id, grain, bucket, fact, count, amount)
  select shop, s.* from metric_sums_of(shop) s
  -- As they will be read.
  order by s.grain, s.bucket, s.fact;
end $$;

CREATE FUNCTION public.rebuild_saves(shop bigint) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
  slice constant integer := 10000;
  ids bigint[];
  last bigint := 0;
begin
  perform lock_shop(shop);
  loop
    select array_agg(s.subscription_id order by s.subscription_id) into ids
    from (
      select subscription_id from subscriptions where shop_id = shop and subscription_id > last
      order by subscription_id limit slice
    ) s;
    exit when ids is null;
    perform refresh_saved(shop, ids);
    last := ids[cardinality(ids)];
  end loop;
end $$;

CREATE FUNCTION public.refresh_departures(shop bigint, subscription_ids bigint[]) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
  departed departure[];
  outdated bigint[];
begin
  if cardinality(subscription_ids) = 0 then return; end if;
  departed := array(select d from departures_of(shop, subscription_ids) d);

  select array_agg(stored.subscription_id) into outdated
  from (select unnest(subscription_ids) except select d.subscription_id from unnest(departed) d) live (id)
  cross join lateral (
    select subscription_id from departures
    where shop_id = shop and subscription_id between live.id and live.id
    order by subscription_id limit 1
  ) stored;
  if outdated is not null then
    delete from departures where shop_id = shop and subscription_id = any (outdated);
  end if;

  insert into departures (shop_id, subscription_id, left_at, plan_id, cause, age_days, value)
  select m.shop_id, d.*
  from metric_shops m
  cross join unnest(departed) d
  left join lateral (
    select * from departures
    where shop_id = shop and subscription_id between d.subscription_id and d.subscription_id
    order by subscription_id limit 1
  ) stored on true
  where m.shop_id = shop
    and (stored.left_at, stored.plan_id, stored.cause, stored.age_days, stored.value)
      is distinct from (d.left_at, d.plan_id, d.cause, d.age_days, d.value)
  on conflict (shop_id, subscription_id) do update set
    left_at = excluded.left_at, plan_id = excluded.plan_id, cause = excluded.cause,
    age_days = excluded.age_days, value = excluded.value;
end $$;

CREATE FUNCTION public.refresh_dunning(shop bigint, subscription_ids bigint[]) RETURNS void
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.refresh_failed_cycles(shop bigint, subscription_ids bigint[]) RETURNS void
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.refresh_price_changes(shop bigint, subscription_ids bigint[]) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
  changes price_change[];
begin
  if cardinality(subscription_ids) = 0 then return; end if;
  changes := array(select c from price_changes_of(shop, subscription_ids) c);
  delete from price_changes
  where shop_id = shop and subscription_id = any (subscription_ids)
    and (subscription_id, at) not in (select c.subscription_id, c.at from unnest(changes) c);
  if cardinality(changes) = 0 then return; end if;
  insert into price_changes as stored (shop_id, subscription_id, at, plan_id, was, became, left_at, lost)
  select m.shop_id, c.* from metric_shops m cross join unnest(changes) c
  where m.shop_id = shop
  on conflict (shop_id, subscription_id, at) do update set plan_id = excluded.plan_id, was = excluded.was,
    became = excluded.became, left_at = excluded.left_at, lost = excluded.lost
    where (stored.plan_id, stored.was, stored.became, stored.left_at, stored.lost)
      is distinct from (excluded.plan_id, excluded.was, excluded.became, excluded.left_at, excluded.lost);
end $$;

CREATE FUNCTION public.refresh_saved(shop bigint, subscription_ids bigint[]) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
  outdated bigint[];
begin
  outdated := array(
    select s.subscription_id
    from unnest(subscription_ids) wanted (id)
    cross join lateral (
      select subscription_id, saved_at from subscriptions
      where shop_id = shop and subscription_id between wanted.id and wanted.id
      order by subscription_id limit 1
    ) s
    where s.saved_at is distinct from (
      select max(created_at) from (
        select * from cancellation_sessions
        where shop_id = shop and subscription_id between wanted.id and wanted.id
        order by subscription_id offset 0
      ) c
      where outcome = 'saved'
    )
  );
  if cardinality(outdated) = 0 then return; end if;
  update subscriptions s
  set saved_at = (
    select max(created_at) from (
      select * from cancellation_sessions
      where shop_id = shop and subscription_id between s.subscription_id and s.subscription_id
      order by subscription_id offset 0
    ) c
    where outcome = 'saved'
  )
  where s.shop_id = shop and s.subscription_id = any (outdated);
end $$;

CREATE FUNCTION public.refresh_subscribers(shop bigint, customer_ids bigint[]) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
  changes subscriber_change[];
  outdated bigint[];
begin
  if cardinality(customer_ids) = 0 then return; end if;
  changes := array(select c from subscriber_changes_of(shop, customer_ids) c);

  select array_agg(distinct s.customer_id) into outdated
  from unnest(customer_ids) wanted (id)
  cross join lateral (
    select customer_id, at from subscriber_changes
    where shop_id = shop and customer_id between wanted.id and wanted.id
    order by customer_id offset 0
  ) s
  where (s.customer_id, s.at) not in (select c.customer_id, c.at from unnest(changes) c);
  if outdated is not null then
    delete from subscriber_changes s
    where s.shop_id = shop and s.customer_id = any (outdated)
      and (s.customer_id, s.at) not in (select c.customer_id, c.at from unnest(changes) c);
    delete from customer_values v
    where v.shop_id = shop and v.customer_id = any (outdated)
      and v.customer_id not in (select c.customer_id from unnest(changes) c);
  end if;

  insert into subscriber_changes (shop_id, customer_id, at, new_subscriber, subscriber,
    paused_subscriber, live, cancelled, cancelled_before, churned, expired, active, churned_failed,
    cohort, trial, trial_amount, paused_undated)
  select m.shop_id, c.*
  from metric_shops m
  cross join unnest(changes) c
  left join lateral (
    select * from subscriber_changes
    where shop_id = shop and customer_id between c.customer_id and c.customer_id
    order by customer_id offset 0
  ) s on s.at = c.at
  where m.shop_id = shop
    and (s.new_subscriber, s.subscriber, s.paused_subscriber, s.live, s.cancelled,
      s.cancelled_before, s.churned, s.expired, s.active, s.churned_failed, s.cohort, s.trial,
      s.trial_amount, s.paused_undated)
    is distinct from (c.new_subscriber, c.subscriber, c.paused_subscriber, c.live, c.cancelled,
      c.cancelled_before, c.churned, c.expired, c.active, c.churned_failed, c.cohort, c.trial,
      c.trial_amount, c.paused_undated)
  on conflict (shop_id, customer_id, at) do update set
    new_subscriber = excluded.new_subscriber, subscriber = excluded.subscriber,
    paused_subscriber = excluded.paused_subscriber, live = excluded.live,
    cancelled = excluded.cancelled, cancelled_before = excluded.cancelled_before,
    churned = excluded.churned, expired = excluded.expired, active = excluded.active,
    churned_failed = excluded.churned_failed, cohort = excluded.cohort,
    trial = excluded.trial, trial_amount = excluded.trial_amount, paused_undated = excluded.paused_undated;

  insert into customer_values as stored (shop_id, customer_id, since, value)
  select m.shop_id, v.* from metric_shops m cross join customer_values_in(changes) v
  where m.shop_id = shop
  on conflict (shop_id, customer_id) do update set since = excluded.since, value = excluded.value
    where (stored.since, stored.value) is distinct from (excluded.since, excluded.value);
end $$;

CREATE FUNCTION public.refresh_subscription_values(shop bigint, subscription_ids bigint[]) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
  ids bigint[];
  statuses text[];
  amounts numeric[];
begin
  if cardinality(subscription_ids) = 0 then return; end if;
  select array_agg(v.subscription_id), array_agg(v.status), array_agg(v.value) into ids, statuses, amounts
  from subscription_values_of(shop, subscription_ids) v;
  -- Each id is given once.
  if cardinality(ids) is distinct from cardinality(subscription_ids) then
    delete from subscription_values
    where shop_id = shop and subscription_id = any (subscription_ids) and subscription_id <> all (coalesce(ids, '{}'));
  end if;
  insert into subscription_values as stored (shop_id, subscription_id, status, value)
  select m.shop_id, v.* from metric_shops m cross join unnest(ids, statuses, amounts) v
  where m.shop_id = shop
  on conflict (shop_id, subscription_id) do update set status = excluded.status, value = excluded.value
    where (stored.status, stored.value) is distinct from (excluded.status, excluded.value);
end $$;

CREATE FUNCTION public.refresh_superseded_facts(shop bigint, subscription_ids bigint[]) RETURNS void
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.refunds_metrics_delete() RETURNS trigger
    LANGUAGE plpgsql
    AS $$declare
        shops bigint[] := array(select distinct shop_id from (select -1 as sign, * from old_rows) changes order by shop_id);
        shop bigint;
        kept_since timestamptz; facts ledger_fact[]; ids bigint[]; customer_ids bigint[];
      begin
        if moves_rows() then return null; end if;
        foreach shop in array shops loop
          perform lock_shop(shop);
          select hours_since into kept_since from metric_shops where shop_id = shop;
  facts := array(
    select row('refunded', metric_floor(refunded_at, kept_since), sum(sign), sum(sign * amount))::ledger_fact
    from (select -1 as sign, * from old_rows) changes where shop_id = shop
    group by metric_floor(refunded_at, kept_since)
  );
  perform add_to_ledger(shop, facts);

        end loop;
        return null;
      end$$;

CREATE FUNCTION public.refunds_metrics_insert() RETURNS trigger
    LANGUAGE plpgsql
    AS $$declare
        shops bigint[] := array(select distinct shop_id from (select 1 as sign, * from new_rows) changes order by shop_id);
        shop bigint;
        kept_since timestamptz; facts ledger_fact[]; ids bigint[]; customer_ids bigint[];
      begin
        if moves_rows() then return null; end if;
        foreach shop in array shops loop
          perform lock_shop(shop);
          select hours_since into kept_since from metric_shops where shop_id = shop;
  facts := array(
    select row('refunded', metric_floor(refunded_at, kept_since), sum(sign), sum(sign * amount))::ledger_fact
    from (select 1 as sign, * from new_rows) changes where shop_id = shop
    group by metric_floor(refunded_at, kept_since)
  );
  perform add_to_ledger(shop, facts);

        end loop;
        return null;
      end$$;

CREATE FUNCTION public.refunds_metrics_update() RETURNS trigger
    LANGUAGE plpgsql
    AS $$declare
        shops bigint[] := array(select distinct shop_id from (select 1 as sign, * from new_rows union all select -1, * from old_rows) changes order by shop_id);
        shop bigint;
        kept_since timestamptz; facts ledger_fact[]; ids bigint[]; customer_ids bigint[];
      begin
        if moves_rows() then return null; end if;
        foreach shop in array shops loop
          perform lock_shop(shop);
          select hours_since into kept_since from metric_shops where shop_id = shop;
  facts := array(
    select row('refunded', metric_floor(refunded_at, kept_since), sum(sign), sum(sign * amount))::ledger_fact
    from (select 1 as sign, * from new_rows union all select -1, * from old_rows) changes where shop_id = shop
    group by metric_floor(refunded_at, kept_since)
  );
  perform add_to_ledger(shop, facts);

        end loop;
        return null;
      end$$;

CREATE FUNCTION public.refuse_audit_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  if tg_op = 'DELETE' and current_setting('retention.audit_deletion', true) = 'on'
    and pg_has_role((select relowner from pg_class where oid = tg_relid), 'usage') then
    return null;
  end if;
  raise exception 'The audit log is append-only.';
end $$;

CREATE FUNCTION public.require_here(shop bigint, waits boolean DEFAULT true) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
  target text;
begin
  if moves_rows() then return; end if;
  if waits then
    perform pg_advisory_xact_lock_shared(move_lock(shop));
  elsif not pg_try_advisory_xact_lock_shared(move_lock(shop)) then
    raise exception 'Shop % is being moved. Try again in a few seconds.', shop using errcode = 'RD001';
  end if;
  select moving_to into target from metric_shops where shop_id = shop;
  if target is not null then
    raise exception 'Shop % has moved to %. If the move was interrupted, run it again.', shop, target using errcode = 'RD001';
  end if;
end $$;

CREATE FUNCTION public.seen_at(at timestamp with time zone) RETURNS jsonb
    LANGUAGE sql STABLE
    AS $$
  select jsonb_build_object('at', floor(extract(epoch from at) * 1000))
$$;

CREATE FUNCTION public.session_fact(outcome text, reason text, offer text) RETURNS text
    LANGUAGE sql IMMUTABLE
    AS $$
  select 'cancel_flow ' || coalesce(outcome, 'open') || ' ' || reason || ' ' || coalesce(offer, 'none')
$$;

CREATE FUNCTION public.status_events_departures_delete() RETURNS trigger
    LANGUAGE plpgsql
    AS $$declare
        shops bigint[] := array(select distinct shop_id from (select -1 as sign, * from old_rows) changes order by shop_id);
        shop bigint;
        ids bigint[];
      begin
        if moves_rows() then return null; end if;
        foreach shop in array shops loop
          perform lock_shop(shop);
  ids := array(
    select distinct subscription_id from (
      select subscription_id from (select -1 as sign, * from old_rows) changes where shop_id = shop
      group by subscription_id, "position", at, from_status, to_status having sum(sign) <> 0
    ) changed
  );
  perform refresh_departures(shop, ids);
  perform refresh_price_changes(shop, ids);

        end loop;
        return null;
      end$$;

CREATE FUNCTION public.status_events_departures_insert() RETURNS trigger
    LANGUAGE plpgsql
    AS $$declare
        shops bigint[] := array(select distinct shop_id from (select 1 as sign, * from new_rows) changes order by shop_id);
        shop bigint;
        ids bigint[];
      begin
        if moves_rows() then return null; end if;
        foreach shop in array shops loop
          perform lock_shop(shop);
  ids := array(
    select distinct subscription_id from (
      select subscription_id from (select 1 as sign, * from new_rows) changes where shop_id = shop
      group by subscription_id, "position", at, from_status, to_status having sum(sign) <> 0
    ) changed
  );
  perform refresh_departures(shop, ids);
  perform refresh_price_changes(shop, ids);

        end loop;
        return null;
      end$$;

CREATE FUNCTION public.status_events_departures_update() RETURNS trigger
    LANGUAGE plpgsql
    AS $$declare
        shops bigint[] := array(select distinct shop_id from (select 1 as sign, * from new_rows union all select -1, * from old_rows) changes order by shop_id);
        shop bigint;
        ids bigint[];
      begin
        if moves_rows() then return null; end if;
        foreach shop in array shops loop
          perform lock_shop(shop);
  ids := array(
    select distinct subscription_id from (
      select subscription_id from (select 1 as sign, * from new_rows union all select -1, * from old_rows) changes where shop_id = shop
      group by subscription_id, "position", at, from_status, to_status having sum(sign) <> 0
    ) changed
  );
  perform refresh_departures(shop, ids);
  perform refresh_price_changes(shop, ids);

        end loop;
        return null;
      end$$;

CREATE FUNCTION public.status_events_metrics_delete() RETURNS trigger
    LANGUAGE plpgsql
    AS $$declare
        shops bigint[] := array(select distinct shop_id from old_rows changes order by shop_id);
        shop bigint;
        ids bigint[]; customer_ids bigint[];
      begin
        if moves_rows() then return null; end if;
        foreach shop in array shops loop
          perform lock_shop(shop);
  ids := array(select distinct subscription_id from old_rows changes where shop_id = shop);
  select coalesce(array_agg(distinct s.customer_id), '{}') into customer_ids
  from unnest(ids) touched (id)
  cross join lateral (
    select customer_id from subscriptions
    where shop_id = shop and subscription_id between touched.id and touched.id
    order by subscription_id limit 1
  ) s;
  perform refresh_subscribers(shop, customer_ids);
  perform refresh_dunning(shop, ids);
  perform refresh_superseded_facts(shop, ids);

        end loop;
        return null;
      end$$;

CREATE FUNCTION public.status_events_metrics_insert() RETURNS trigger
    LANGUAGE plpgsql
    AS $$declare
        shops bigint[] := array(select distinct shop_id from new_rows changes order by shop_id);
        shop bigint;
        ids bigint[]; customer_ids bigint[];
      begin
        if moves_rows() then return null; end if;
        foreach shop in array shops loop
          perform lock_shop(shop);
  ids := array(select distinct subscription_id from new_rows changes where shop_id = shop);
  select coalesce(array_agg(distinct s.customer_id), '{}') into customer_ids
  from unnest(ids) touched (id)
  cross join lateral (
    select customer_id from subscriptions
    where shop_id = shop and subscription_id between touched.id and touched.id
    order by subscription_id limit 1
  ) s;
  perform refresh_subscribers(shop, customer_ids);
  perform refresh_dunning(shop, ids);
  perform refresh_superseded_facts(shop, ids);

        end loop;
        return null;
      end$$;

CREATE FUNCTION public.status_events_metrics_update() RETURNS trigger
    LANGUAGE plpgsql
    AS $$declare
        shops bigint[] := array(select distinct shop_id from (select * from new_rows union all select * from old_rows) changes order by shop_id);
        shop bigint;
        ids bigint[]; customer_ids bigint[];
      begin
        if moves_rows() then return null; end if;
        foreach shop in array shops loop
          perform lock_shop(shop);
  ids := array(select distinct subscription_id from (select * from new_rows union all select * from old_rows) changes where shop_id = shop);
  select coalesce(array_agg(distinct s.customer_id), '{}') into customer_ids
  from unnest(ids) touched (id)
  cross join lateral (
    select customer_id from subscriptions
    where shop_id = shop and subscription_id between touched.id and touched.id
    order by subscription_id limit 1
  ) s;
  perform refresh_subscribers(shop, customer_ids);
  perform refresh_dunning(shop, ids);
  perform refresh_superseded_facts(shop, ids);

        end loop;
        return null;
      end$$;

CREATE FUNCTION public.subscriber_changes_metrics_delete() RETURNS trigger
    LANGUAGE plpgsql
    AS $$declare
        shops bigint[] := array(select distinct shop_id from (select -1 as sign, * from old_rows) changes order by shop_id);
        shop bigint;
        kept_since timestamptz; facts ledger_fact[];
      begin
        if moves_rows() then return null; end if;
        foreach shop in array shops loop
          perform lock_shop(shop);
          select hours_since into kept_since from metric_shops where shop_id = shop;
  -- A branch for each fact: one that takes a row apart into all of its facts costs three times as much.
  facts := array(
    select row(fact, metric_floor(at, kept_since), sum(count), sum(amount))::ledger_fact
    from (
      select shop_id, 'new_subscriber' as fact, at, sign * new_subscriber as count, 0 as amount
      from (select -1 as sign, * from old_rows) changes where new_subscriber <> 0
      union all
      select shop_id, 'subscriber', at, sign * subscriber, 0 from (select -1 as sign, * from old_rows) changes where subscriber <> 0
      union all
      select shop_id, 'paused_subscriber', at, sign * paused_subscriber, 0
      from (select -1 as sign, * from old_rows) changes where paused_subscriber <> 0
      union all
      select shop_id, 'paused_undated', at, sign * paused_undated, 0
      from (select -1 as sign, * from old_rows) changes where paused_undated <> 0
      union all
      select shop_id, 'trial', at, sign * trial, sign * trial_amount
      from (select -1 as sign, * from old_rows) changes where trial <> 0 or trial_amount <> 0
      union all
      select shop_id, 'live', at, sign * live, 0 from (select -1 as sign, * from old_rows) changes where live <> 0
      union all
      select shop_id, 'cancelled', at, sign * cancelled, 0 from (select -1 as sign, * from old_rows) changes where cancelled <> 0
      union all
      select shop_id, 'cancelled_before', at, sign * cancelled_before, 0
      from (select -1 as sign, * from old_rows) changes where cancelled_before <> 0
      union all
      select shop_id, 'churned', at, sign * churned, 0 from (select -1 as sign, * from old_rows) changes where churned <> 0
      union all
      select shop_id, 'churned_failed', at, sign * churned_failed, 0
      from (select -1 as sign, * from old_rows) changes where churned_failed <> 0
      union all
      select shop_id, 'expired', at, sign * expired, 0 from (select -1 as sign, * from old_rows) changes where expired <> 0
      union all
      select shop_id, a.fact, at, sign * a.count, sign * a.amount
      from (select -1 as sign, * from old_rows) changes cross join lateral unnest(active) a where active <> '{}'
      union all
      select shop_id, 'cohort ' || cohort || ' customers', metric_month(at),
        sign * new_subscriber, 0
      from (select -1 as sign, * from old_rows) changes where new_subscriber <> 0 and cohort is not null
      union all
      select shop_id, 'cohort ' || cohort || ' retained', metric_month(at),
        sign * (subscriber + paused_subscriber), 0
      from (select -1 as sign, * from old_rows) changes where subscriber + paused_subscriber <> 0 and cohort is not null
      union all
      select shop_id, 'cohort ' || cohort || ' ' || interval_of_fact(a.fact), metric_month(at),
        sign * a.count, sign * a.amount
      from (select -1 as sign, * from old_rows) changes cross join lateral unnest(active) a
      where active <> '{}' and cohort is not null
    ) facts
    where shop_id = shop
    group by fact, metric_floor(at, kept_since)
    having sum(count) <> 0 or sum(amount) <> 0
  );
  perform add_to_ledger(shop, facts);

        end loop;
        return null;
      end$$;

CREATE FUNCTION public.subscriber_changes_metrics_insert() RETURNS trigger
    LANGUAGE plpgsql
    AS $$declare
        shops bigint[] := array(select distinct shop_id from (select 1 as sign, * from new_rows) changes order by shop_id);
        shop bigint;
        kept_since timestamptz; facts ledger_fact[];
      begin
        if moves_rows() then return null; end if;
        foreach shop in array shops loop
          perform lock_shop(shop);
          select hours_since into kept_since from metric_shops where shop_id = shop;
  -- A branch for each fact: one that takes a row apart into all of its facts costs three times as much.
  facts := array(
    select row(fact, metric_floor(at, kept_since), sum(count), sum(amount))::ledger_fact
    from (
      select shop_id, 'new_subscriber' as fact, at, sign * new_subscriber as count, 0 as amount
      from (select 1 as sign, * from new_rows) changes where new_subscriber <> 0
      union all
      select shop_id, 'subscriber', at, sign * subscriber, 0 from (select 1 as sign, * from new_rows) changes where subscriber <> 0
      union all
      select shop_id, 'paused_subscriber', at, sign * paused_subscriber, 0
      from (select 1 as sign, * from new_rows) changes where paused_subscriber <> 0
      union all
      select shop_id, 'paused_undated', at, sign * paused_undated, 0
      from (select 1 as sign, * from new_rows) changes where paused_undated <> 0
      union all
      select shop_id, 'trial', at, sign * trial, sign * trial_amount
      from (select 1 as sign, * from new_rows) changes where trial <> 0 or trial_amount <> 0
      union all
      select shop_id, 'live', at, sign * live, 0 from (select 1 as sign, * from new_rows) changes where live <> 0
      union all
      select shop_id, 'cancelled', at, sign * cancelled, 0 from (select 1 as sign, * from new_rows) changes where cancelled <> 0
      union all
      select shop_id, 'cancelled_before', at, sign * cancelled_before, 0
      from (select 1 as sign, * from new_rows) changes where cancelled_before <> 0
      union all
      select shop_id, 'churned', at, sign * churned, 0 from (select 1 as sign, * from new_rows) changes where churned <> 0
      union all
      select shop_id, 'churned_failed', at, sign * churned_failed, 0
      from (select 1 as sign, * from new_rows) changes where churned_failed <> 0
      union all
      select shop_id, 'expired', at, sign * expired, 0 from (select 1 as sign, * from new_rows) changes where expired <> 0
      union all
      select shop_id, a.fact, at, sign * a.count, sign * a.amount
      from (select 1 as sign, * from new_rows) changes cross join lateral unnest(active) a where active <> '{}'
      union all
      select shop_id, 'cohort ' || cohort || ' customers', metric_month(at),
        sign * new_subscriber, 0
      from (select 1 as sign, * from new_rows) changes where new_subscriber <> 0 and cohort is not null
      union all
      select shop_id, 'cohort ' || cohort || ' retained', metric_month(at),
        sign * (subscriber + paused_subscriber), 0
      from (select 1 as sign, * from new_rows) changes where subscriber + paused_subscriber <> 0 and cohort is not null
      union all
      select shop_id, 'cohort ' || cohort || ' ' || interval_of_fact(a.fact), metric_month(at),
        sign * a.count, sign * a.amount
      from (select 1 as sign, * from new_rows) changes cross join lateral unnest(active) a
      where active <> '{}' and cohort is not null
    ) facts
    where shop_id = shop
    group by fact, metric_floor(at, kept_since)
    having sum(count) <> 0 or sum(amount) <> 0
  );
  perform add_to_ledger(shop, facts);

        end loop;
        return null;
      end$$;

CREATE FUNCTION public.subscriber_changes_metrics_update() RETURNS trigger
    LANGUAGE plpgsql
    AS $$declare
        shops bigint[] := array(select distinct shop_id from (select 1 as sign, * from new_rows union all select -1, * from old_rows) changes order by shop_id);
        shop bigint;
        kept_since timestamptz; facts ledger_fact[];
      begin
        if moves_rows() then return null; end if;
        foreach shop in array shops loop
          perform lock_shop(shop);
          select hours_since into kept_since from metric_shops where shop_id = shop;
  -- A branch for each fact: one that takes a row apart into all of its facts costs three times as much.
  facts := array(
    select row(fact, metric_floor(at, kept_since), sum(count), sum(amount))::ledger_fact
    from (
      select shop_id, 'new_subscriber' as fact, at, sign * new_subscriber as count, 0 as amount
      from (select 1 as sign, * from new_rows union all select -1, * from old_rows) changes where new_subscriber <> 0
      union all
      select shop_id, 'subscriber', at, sign * subscriber, 0 from (select 1 as sign, * from new_rows union all select -1, * from old_rows) changes where subscriber <> 0
      union all
      select shop_id, 'paused_subscriber', at, sign * paused_subscriber, 0
      from (select 1 as sign, * from new_rows union all select -1, * from old_rows) changes where paused_subscriber <> 0
      union all
      select shop_id, 'paused_undated', at, sign * paused_undated, 0
      from (select 1 as sign, * from new_rows union all select -1, * from old_rows) changes where paused_undated <> 0
      union all
      select shop_id, 'trial', at, sign * trial, sign * trial_amount
      from (select 1 as sign, * from new_rows union all select -1, * from old_rows) changes where trial <> 0 or trial_amount <> 0
      union all
      select shop_id, 'live', at, sign * live, 0 from (select 1 as sign, * from new_rows union all select -1, * from old_rows) changes where live <> 0
      union all
      select shop_id, 'cancelled', at, sign * cancelled, 0 from (select 1 as sign, * from new_rows union all select -1, * from old_rows) changes where cancelled <> 0
      union all
      select shop_id, 'cancelled_before', at, sign * cancelled_before, 0
      from (select 1 as sign, * from new_rows union all select -1, * from old_rows) changes where cancelled_before <> 0
      union all
      select shop_id, 'churned', at, sign * churned, 0 from (select 1 as sign, * from new_rows union all select -1, * from old_rows) changes where churned <> 0
      union all
      select shop_id, 'churned_failed', at, sign * churned_failed, 0
      from (select 1 as sign, * from new_rows union all select -1, * from old_rows) changes where churned_failed <> 0
      union all
      select shop_id, 'expired', at, sign * expired, 0 from (select 1 as sign, * from new_rows union all select -1, * from old_rows) changes where expired <> 0
      union all
      select shop_id, a.fact, at, sign * a.count, sign * a.amount
      from (select 1 as sign, * from new_rows union all select -1, * from old_rows) changes cross join lateral unnest(active) a where active <> '{}'
      union all
      select shop_id, 'cohort ' || cohort || ' customers', metric_month(at),
        sign * new_subscriber, 0
      from (select 1 as sign, * from new_rows union all select -1, * from old_rows) changes where new_subscriber <> 0 and cohort is not null
      union all
      select shop_id, 'cohort ' || cohort || ' retained', metric_month(at),
        sign * (subscriber + paused_subscriber), 0
      from (select 1 as sign, * from new_rows union all select -1, * from old_rows) changes where subscriber + paused_subscriber <> 0 and cohort is not null
      union all
      select shop_id, 'cohort ' || cohort || ' ' || interval_of_fact(a.fact), metric_month(at),
        sign * a.count, sign * a.amount
      from (select 1 as sign, * from new_rows union all select -1, * from old_rows) changes cross join lateral unnest(active) a
      where active <> '{}' and cohort is not null
    ) facts
    where shop_id = shop
    group by fact, metric_floor(at, kept_since)
    having sum(count) <> 0 or sum(amount) <> 0
  );
  perform add_to_ledger(shop, facts);

        end loop;
        return null;
      end$$;

CREATE FUNCTION public.subscriber_changes_of(shop bigint, customer_ids bigint[]) RETURNS SETOF public.subscriber_change
    LANGUAGE plpgsql STABLE
    AS $$
begin
  return query
  with held as materialized (
    select s.customer_id, s.subscription_id, s.status, s.status_since, s.created_at, s.trial_ends_at,
      s.current_price, s.other_intervals, price_at(s.current_price, s.other_intervals, '') as own_price,
      s.past_values, coalesce(s.own_interval_unit, p.interval_unit) || ' '
        || coalesce(s.own_interval_count, p.interval_count) as billed,
      p.interval_unit || ' ' || p.interval_count as billed_by_plan,
      row_number() over (
        partition by s.customer_id order by s.created_at, s.subscription_id
      ) = 1 as is_first
    from unnest(customer_ids) wanted (id)
    cross join lateral (
      select * from subscriptions
      where shop_id = shop and customer_id between wanted.id and wanted.id
      order by customer_id offset 0
    ) s
    cross join lateral (
      select * from plans where shop_id = shop and plan_id = s.plan_id limit 1
    ) p
  ),
  steps as (
    select h.*, h.created_at as at, -1 as position, 'active' as to_status
    from held h where h.status_since is not null
    union all
    select h.*, e.at, e.position, e.to_status
    from held h
    cross join lateral (
      select * from status_events where shop_id = shop and subscription_id = h.subscription_id
      order by position offset 0
    ) e
    where h.status_since is not null
    union all
    -- If it is active when its trial ends, its value counts from then on.
    select h.*, h.trial_ends_at, 32766, 'active'
    from held h
    left join lateral (
      select e.to_status from status_events e
      where e.shop_id = shop and e.subscription_id = h.subscription_id and e.at <= h.trial_ends_at
      order by e.position desc limit 1
    ) became on true
    where h.status_since is not null and h.trial_ends_at > h.created_at
      and coalesce(became.to_status, 'active') = 'active'
  ),
  -- Of those that were worth something else before, each change of that is a step, too, while they are active; and each
  -- step has what the last one before it says. In one pass, as there may be thousands.
  marked as (
    select s.*, null::jsonb as amounts from steps s where s.past_values is not null
    union all
    select h.*, v.since, 32767, null, v.amounts
    from held h cross join lateral values_of(h.past_values) v
    where h.past_values is not null and h.status_since is not null
  ),
  placed as (
    select m.*, count(m.to_status) over (partition by m.subscription_id order by m.at, m.position) as status_place,
      count(m.amounts) over (
        partition by m.subscription_id order by m.at, m.amounts is null, m.position
      ) as value_place
    from marked m
  ),
  carried as (
    select p.*, first_value(p.to_status) over (
        partition by p.subscription_id, p.status_place order by p.at, p.position
      ) as status_then,
      first_value(p.amounts) over (
        partition by p.subscription_id, p.value_place order by p.at, p.amounts is null, p.position
      ) as amounts_then
    from placed p
  ),
  valued as (
    select s.*, null::jsonb as amounts from steps s where s.past_values is null
    union all
    select c.customer_id, c.subscription_id, c.status, c.status_since, c.created_at, c.trial_ends_at, c.current_price,
      c.other_intervals, c.own_price, c.past_values, c.billed, c.billed_by_plan, c.is_first, c.at, c.position,
      c.status_then, c.amounts_then
    from carried c
    where c.to_status is not null or c.status_then = 'active' and c.at > c.created_at
  ),
  dated as (
    select s.*,
      case when s.to_status = 'active' and s.at < s.trial_ends_at then 'trial' else s.to_status end as phase,
      lead(s.at) over (partition by s.subscription_id order by s.at, s.position) as until
    from valued s
  ),
  -- Of several changes of a subscription at one instant, only what they come to.
  netted as (
    select d.*, lag(d.phase, 1, '') over past as was, lag(d.amounts) over past as were_amounts,
      count(*) filter (where d.phase = 'active') over past = 1 as is_first_time
    from dated d where d.until is distinct from d.at
    window past as (partition by d.subscription_id order by d.at, d.position)
  ),
  moves as (
    select n.*,
      (n.phase = 'active')::int - (n.was = 'active')::int as is_active,
      (n.phase = 'trial')::int - (n.was = 'trial')::int as is_trial,
      (n.phase = 'paused')::int - (n.was = 'paused')::int as is_paused,
      case
        when n.phase = 'active' and n.was = 'active' then 'value'
        when n.phase <> 'active' then n.phase
        when n.was = '' or n.trial_ends_at is not null and n.is_first_time
          then case when n.is_first then 'new' else 'added' end
        when n.was = 'paused' then 'resumed'
        else 'reactivated'
      end as movement
    from netted n
  ),
  -- Of those whose values changed: what came and went, by billing interval.
  amounts as (
    select m.customer_id, m.at, m.movement, coalesce(nullif(a.key, ''), m.billed_by_plan) as billed, a.amount
    from moves m
    cross join lateral (
      select key, value::numeric as amount from jsonb_each_text(m.amounts) where m.phase = 'active'
      union all
      select key, -value::numeric from jsonb_each_text(m.were_amounts) where m.was = 'active'
    ) a
    where m.past_values is not null
  ),
  netted_values as (
    select a.customer_id, a.at,
      case when round(sum(monthly_amount(a.amount, a.billed)), 30) < 0 then 'contraction' else 'expansion' end
        as movement
    from amounts a where a.movement = 'value' group by a.customer_id, a.at
  ),
  parts as (
    select m.customer_id, m.at, 'active ' || m.billed || ' ' || m.movement as fact, m.is_active,
      case when m.past_values is null then m.is_active * m.own_price else 0 end as amount, m.is_trial,
      case when m.past_values is null then m.is_trial * m.current_price
        else price_in(m.amounts, m.phase = 'trial') - price_in(m.were_amounts, m.was = 'trial') end as trial_amount,
      m.is_paused,
      (m.to_status = 'cancelled' and metric_day(m.until) > metric_day(m.at)) is true as is_cancelled_before
    from moves m
    union all
    select m.customer_id, m.at, 'active ' || o.key || ' ' || m.movement, 0, m.is_active * o.value::numeric, 0, 0,
      0, false
    from moves m cross join lateral jsonb_each_text(m.other_intervals) o
    where m.is_active <> 0 and m.past_values is null
    union all
    select a.customer_id, a.at, 'active ' || a.billed || ' ' || coalesce(n.movement, a.movement), 0, a.amount, 0, 0,
      0, false
    from amounts a
    left join netted_values n on a.movement = 'value' and n.customer_id = a.customer_id and n.at = a.at
  ),
  by_movement as (
    select p.customer_id, p.at, p.fact, sum(p.is_active)::int as active_count,
      sum(p.amount) as active_amount, sum(p.is_trial)::int as trial, sum(p.trial_amount) as trial_amount,
      sum(p.is_paused)::int as paused_count, 0 as paused_undated, 0 as new_subscriber, 0 as cancelled,
      count(*) filter (where p.is_cancelled_before)::int as cancelled_before,
      0 as churned, 0 as churned_failed, 0 as expired
    from parts p group by p.customer_id, p.at, p.fact
    union all
    select h.customer_id, h.created_at, '', 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0
    from held h where h.is_first
    union all
    select h.customer_id, h.created_at, '', 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0
    from held h where h.status = 'paused' and h.status_since is null
    union all
    select h.customer_id, h.status_since, '', 0, 0, 0, 0, 0, 0, 0, count(*)::int, 0, 0, 0, 0
    from held h where h.status = 'cancelled' and h.status_since is not null
    group by h.customer_id, h.status_since
    union all
    select h.customer_id, coalesce(e.at, h.status_since), '', 0, 0, 0, 0, 0, 0, 0, 0, 0,
      (h.status <> 'expired')::int,
      (h.status <> 'expired' and coalesce(e.to_status, h.status) = 'failed')::int,
      (h.status = 'expired')::int
    from held h
    left join lateral (
      select e.at from status_events e
      where e.shop_id = shop and e.subscription_id = h.subscription_id
        and e.from_status in ('active', 'paused') and e.to_status not in ('active', 'paused')
      order by e.position desc limit 1
    ) leaving on true
    left join lateral (
      select e.at, e.to_status from status_events e
      where e.shop_id = shop and e.subscription_id = h.subscription_id and e.at = leaving.at
      order by e.position desc limit 1
    ) e on true
    where h.status not in ('active', 'paused') and h.status_since is not null
  ),
  moments as (
    select b.customer_id, b.at, sum(b.active_count + b.trial)::int as active,
      sum(b.trial)::int as trial, trim_scale(sum(b.trial_amount)) as trial_amount,
      sum(b.paused_count)::int as paused, sum(b.paused_undated)::int as undated, sum(b.new_subscriber)::int as new_subscriber,
      sum(b.cancelled)::int as cancelled, sum(b.cancelled_before)::int as cancelled_before,
      sum(b.churned)::int as churned, sum(b.churned_failed)::int as churned_failed,
      sum(b.expired)::int as expired,
      coalesce(
        array_agg(
          row(b.fact, b.active_count, trim_scale(b.active_amount))::active_change
          order by b.fact
        ) filter (where b.active_count <> 0 or b.active_amount <> 0), '{}'
      ) as actives
    from by_movement b group by b.customer_id, b.at
  ),
  states as (
    select m.*, sum(m.active) over past > 0 as is_subscriber,
      sum(m.active) over past <= 0 and sum(m.paused) over past > 0 as is_paused,
      sum(m.active) over past <= 0 and sum(m.paused) over past <= 0 and sum(m.undated) over past > 0
        as is_undated
    from moments m
    window past as (partition by m.customer_id order by m.at)
  ),
  changes as (
    select s.customer_id, s.at, s.new_subscriber,
      s.is_subscriber::int - lag(s.is_subscriber::int, 1, 0) over past as subscriber,
      s.is_paused::int - lag(s.is_paused::int, 1, 0) over past as paused_subscriber,
      s.active + s.paused as live, s.cancelled, s.cancelled_before, s.churned, s.expired, s.actives,
      -- A customer's first change is that their first subscription begins.
      s.churned_failed,
      to_char(first_value(s.at) over past at time zone 'UTC', 'YYYY-MM') as cohort, s.trial, s.trial_amount,
      s.is_undated::int - lag(s.is_undated::int, 1, 0) over past as paused_undated
    from states s
    window past as (partition by s.customer_id order by s.at)
  )
  select c.* from changes c
  where c.actives <> '{}' or (c.new_subscriber, c.subscriber, c.paused_subscriber, c.live,
    c.cancelled, c.cancelled_before, c.churned, c.expired, c.trial, c.trial_amount, c.paused_undated)
    <> (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
end $$;

CREATE FUNCTION public.subscription_values_of(shop bigint, subscription_ids bigint[]) RETURNS TABLE(subscription_id bigint, status text, value numeric)
    LANGUAGE plpgsql STABLE
    AS $$
begin
  return query
  select s.subscription_id, s.status, worth_until(null, s.current_price, s.other_intervals, null, null,
    s.own_interval_unit, s.own_interval_count, p.interval_unit, p.interval_count)
  from unnest(subscription_ids) wanted (id)
  cross join lateral (
    select * from subscriptions s
    where s.shop_id = shop and s.subscription_id between wanted.id and wanted.id
    order by s.subscription_id limit 1
  ) s
  cross join lateral (
    select interval_unit, interval_count from plans
    where shop_id = shop and plan_id = s.plan_id limit 1
  ) p;
end $$;

CREATE FUNCTION public.subscriptions_departures_update() RETURNS trigger
    LANGUAGE plpgsql
    AS $$declare
        shops bigint[] := array(select distinct shop_id from (select 1 as sign, * from new_rows union all select -1, * from old_rows) changes order by shop_id);
        shop bigint;
        ids bigint[];
      begin
        if moves_rows() then return null; end if;
        foreach shop in array shops loop
          perform lock_shop(shop);
  ids := array(
    select distinct subscription_id from (
      select subscription_id from (select 1 as sign, * from new_rows union all select -1, * from old_rows) changes where shop_id = shop
      group by subscription_id, plan_id, created_at, status, status_since is null, current_price,
        own_interval_unit, own_interval_count, trial_ends_at, other_intervals, past_values
      having sum(sign) <> 0
    ) changed
  );
  perform refresh_departures(shop, ids);
  perform refresh_price_changes(shop, ids);
  perform refresh_subscription_values(shop, ids);
  -- Nothing else follows from one whose status has no date.
  ids := array(
    select distinct subscription_id from (
      select subscription_id from (select 1 as sign, * from new_rows union all select -1, * from old_rows) changes where shop_id = shop
      group by subscription_id, status_since is null having sum(sign) <> 0
    ) changed
  );
  perform refresh_dunning(shop, ids);
  perform refresh_superseded_facts(shop, ids);

        end loop;
        return null;
      end$$;

CREATE FUNCTION public.subscriptions_metrics_delete() RETURNS trigger
    LANGUAGE plpgsql
    AS $$declare
        shops bigint[] := array(select distinct shop_id from (select -1 as sign, * from old_rows) changes order by shop_id);
        shop bigint;
        kept_since timestamptz; facts ledger_fact[]; ids bigint[]; plan_ids bigint[]; customer_ids bigint[];
  units text[]; cycles integer[]; others text[]; times timestamptz[]; counts bigint[]; amounts numeric[];
      begin
        if moves_rows() then return null; end if;
        foreach shop in array shops loop
          perform lock_shop(shop);
          select hours_since into kept_since from metric_shops where shop_id = shop;
  select array_agg(plan_id), array_agg(own_interval_unit), array_agg(own_interval_count), array_agg(other),
    array_agg(at), array_agg(count), array_agg(amount)
  into plan_ids, units, cycles, others, times, counts, amounts
  from (
    select plan_id, own_interval_unit, own_interval_count, null as other,
      metric_floor(next_billing_at, kept_since) as at, sum(sign) as count, sum(sign * current_price) as amount
    from (select -1 as sign, * from old_rows) changes where shop_id = shop and status = 'active' and next_billing_at is not null
    group by plan_id, own_interval_unit, own_interval_count, metric_floor(next_billing_at, kept_since)
    having sum(sign) <> 0 or sum(sign * current_price) <> 0
    union all
    -- Of other lines, which are not billed then.
    select plan_id, own_interval_unit, own_interval_count, o.key,
      metric_floor(next_billing_at, kept_since), 0, -sum(sign * o.value::numeric)
    from (select -1 as sign, * from old_rows) changes cross join lateral jsonb_each_text(other_intervals) o
    where shop_id = shop and status = 'active' and next_billing_at is not null
    group by plan_id, own_interval_unit, own_interval_count, o.key, metric_floor(next_billing_at, kept_since)
  ) renewing;
  facts := array(
    select row(v.fact, c.at, sum(c.count), sum(c.amount))::ledger_fact
    from unnest(plan_ids, units, cycles, others, times, counts, amounts)
      c (plan_id, unit, cycles, other, at, count, amount)
    cross join lateral (
      select coalesce(c.unit, interval_unit) || ' ' || coalesce(c.cycles, interval_count) as billed from plans
      where shop_id = shop and plan_id = c.plan_id limit 1
    ) p
    cross join lateral (values ('renewal'), ('due ' || p.billed)) v (fact)
    where c.other is distinct from p.billed
    group by v.fact, c.at
    having sum(c.count) <> 0 or sum(c.amount) <> 0
  );
  -- Not in one statement: a cluster cannot read its tables together with `changes`.
  facts := facts || array(
    select row(present_fact(status, plan_id, current_price, own_interval_unit, own_interval_count, feed),
      timestamptz '-infinity', sum(sign), sum(sign * current_price))::ledger_fact
    from (select -1 as sign, * from old_rows) changes where shop_id = shop and status in ('active', 'paused') and status_since is not null
    group by status, plan_id, current_price, own_interval_unit, own_interval_count, feed
    having sum(sign) <> 0
  );
  perform add_to_ledger(shop, facts);
  if tg_op <> 'UPDATE' then
    ids := array(select subscription_id from (select -1 as sign, * from old_rows) changes where shop_id = shop);
    perform refresh_subscription_values(shop, ids);
    if tg_op = 'INSERT' then perform refresh_saved(shop, ids); end if;
    ids := array(select subscription_id from (select -1 as sign, * from old_rows) changes where shop_id = shop and past_values is not null);
    perform refresh_price_changes(shop, ids);
  end if;
  ids := array(
    select distinct customer_id from (
      select customer_id from (select -1 as sign, * from old_rows) changes
      where shop_id = shop
        and (tg_op <> 'INSERT' or status = 'active' and status_since = created_at or status_since is null)
      group by subscription_id, customer_id, plan_id, status, status_since, current_price,
        own_interval_unit, own_interval_count, created_at, trial_ends_at, other_intervals, past_values
      having sum(sign) <> 0
    ) changed
  );
  perform refresh_subscribers(shop, ids);

        end loop;
        return null;
      end$$;

CREATE FUNCTION public.subscriptions_metrics_insert() RETURNS trigger
    LANGUAGE plpgsql
    AS $$declare
        shops bigint[] := array(select distinct shop_id from (select 1 as sign, * from new_rows) changes order by shop_id);
        shop bigint;
        kept_since timestamptz; facts ledger_fact[]; ids bigint[]; plan_ids bigint[]; customer_ids bigint[];
  units text[]; cycles integer[]; others text[]; times timestamptz[]; counts bigint[]; amounts numeric[];
      begin
        if moves_rows() then return null; end if;
        foreach shop in array shops loop
          perform lock_shop(shop);
          select hours_since into kept_since from metric_shops where shop_id = shop;
  select array_agg(plan_id), array_agg(own_interval_unit), array_agg(own_interval_count), array_agg(other),
    array_agg(at), array_agg(count), array_agg(amount)
  into plan_ids, units, cycles, others, times, counts, amounts
  from (
    select plan_id, own_interval_unit, own_interval_count, null as other,
      metric_floor(next_billing_at, kept_since) as at, sum(sign) as count, sum(sign * current_price) as amount
    from (select 1 as sign, * from new_rows) changes where shop_id = shop and status = 'active' and next_billing_at is not null
    group by plan_id, own_interval_unit, own_interval_count, metric_floor(next_billing_at, kept_since)
    having sum(sign) <> 0 or sum(sign * current_price) <> 0
    union all
    -- Of other lines, which are not billed then.
    select plan_id, own_interval_unit, own_interval_count, o.key,
      metric_floor(next_billing_at, kept_since), 0, -sum(sign * o.value::numeric)
    from (select 1 as sign, * from new_rows) changes cross join lateral jsonb_each_text(other_intervals) o
    where shop_id = shop and status = 'active' and next_billing_at is not null
    group by plan_id, own_interval_unit, own_interval_count, o.key, metric_floor(next_billing_at, kept_since)
  ) renewing;
  facts := array(
    select row(v.fact, c.at, sum(c.count), sum(c.amount))::ledger_fact
    from unnest(plan_ids, units, cycles, others, times, counts, amounts)
      c (plan_id, unit, cycles, other, at, count, amount)
    cross join lateral (
      select coalesce(c.unit, interval_unit) || ' ' || coalesce(c.cycles, interval_count) as billed from plans
      where shop_id = shop and plan_id = c.plan_id limit 1
    ) p
    cross join lateral (values ('renewal'), ('due ' || p.billed)) v (fact)
    where c.other is distinct from p.billed
    group by v.fact, c.at
    having sum(c.count) <> 0 or sum(c.amount) <> 0
  );
  -- Not in one statement: a cluster cannot read its tables together with `changes`.
  facts := facts || array(
    select row(present_fact(status, plan_id, current_price, own_interval_unit, own_interval_count, feed),
      timestamptz '-infinity', sum(sign), sum(sign * current_price))::ledger_fact
    from (select 1 as sign, * from new_rows) changes where shop_id = shop and status in ('active', 'paused') and status_since is not null
    group by status, plan_id, current_price, own_interval_unit, own_interval_count, feed
    having sum(sign) <> 0
  );
  perform add_to_ledger(shop, facts);
  if tg_op <> 'UPDATE' then
    ids := array(select subscription_id from (select 1 as sign, * from new_rows) changes where shop_id = shop);
    perform refresh_subscription_values(shop, ids);
    if tg_op = 'INSERT' then perform refresh_saved(shop, ids); end if;
    ids := array(select subscription_id from (select 1 as sign, * from new_rows) changes where shop_id = shop and past_values is not null);
    perform refresh_price_changes(shop, ids);
  end if;
  ids := array(
    select distinct customer_id from (
      select customer_id from (select 1 as sign, * from new_rows) changes
      where shop_id = shop
        and (tg_op <> 'INSERT' or status = 'active' and status_since = created_at or status_since is null)
      group by subscription_id, customer_id, plan_id, status, status_since, current_price,
        own_interval_unit, own_interval_count, created_at, trial_ends_at, other_intervals, past_values
      having sum(sign) <> 0
    ) changed
  );
  perform refresh_subscribers(shop, ids);

        end loop;
        return null;
      end$$;

CREATE FUNCTION public.subscriptions_metrics_update() RETURNS trigger
    LANGUAGE plpgsql
    AS $$declare
        shops bigint[] := array(select distinct shop_id from (select 1 as sign, * from new_rows union all select -1, * from old_rows) changes order by shop_id);
        shop bigint;
        kept_since timestamptz; facts ledger_fact[]; ids bigint[]; plan_ids bigint[]; customer_ids bigint[];
  units text[]; cycles integer[]; others text[]; times timestamptz[]; counts bigint[]; amounts numeric[];
      begin
        if moves_rows() then return null; end if;
        foreach shop in array shops loop
          perform lock_shop(shop);
          select hours_since into kept_since from metric_shops where shop_id = shop;
  select array_agg(plan_id), array_agg(own_interval_unit), array_agg(own_interval_count), array_agg(other),
    array_agg(at), array_agg(count), array_agg(amount)
  into plan_ids, units, cycles, others, times, counts, amounts
  from (
    select plan_id, own_interval_unit, own_interval_count, null as other,
      metric_floor(next_billing_at, kept_since) as at, sum(sign) as count, sum(sign * current_price) as amount
    from (select 1 as sign, * from new_rows union all select -1, * from old_rows) changes where shop_id = shop and status = 'active' and next_billing_at is not null
    group by plan_id, own_interval_unit, own_interval_count, metric_floor(next_billing_at, kept_since)
    having sum(sign) <> 0 or sum(sign * current_price) <> 0
    union all
    -- Of other lines, which are not billed then.
    select plan_id, own_interval_unit, own_interval_count, o.key,
      metric_floor(next_billing_at, kept_since), 0, -sum(sign * o.value::numeric)
    from (select 1 as sign, * from new_rows union all select -1, * from old_rows) changes cross join lateral jsonb_each_text(other_intervals) o
    where shop_id = shop and status = 'active' and next_billing_at is not null
    group by plan_id, own_interval_unit, own_interval_count, o.key, metric_floor(next_billing_at, kept_since)
  ) renewing;
  facts := array(
    select row(v.fact, c.at, sum(c.count), sum(c.amount))::ledger_fact
    from unnest(plan_ids, units, cycles, others, times, counts, amounts)
      c (plan_id, unit, cycles, other, at, count, amount)
    cross join lateral (
      select coalesce(c.unit, interval_unit) || ' ' || coalesce(c.cycles, interval_count) as billed from plans
      where shop_id = shop and plan_id = c.plan_id limit 1
    ) p
    cross join lateral (values ('renewal'), ('due ' || p.billed)) v (fact)
    where c.other is distinct from p.billed
    group by v.fact, c.at
    having sum(c.count) <> 0 or sum(c.amount) <> 0
  );
  -- Not in one statement: a cluster cannot read its tables together with `changes`.
  facts := facts || array(
    select row(present_fact(status, plan_id, current_price, own_interval_unit, own_interval_count, feed),
      timestamptz '-infinity', sum(sign), sum(sign * current_price))::ledger_fact
    from (select 1 as sign, * from new_rows union all select -1, * from old_rows) changes where shop_id = shop and status in ('active', 'paused') and status_since is not null
    group by status, plan_id, current_price, own_interval_unit, own_interval_count, feed
    having sum(sign) <> 0
  );
  perform add_to_ledger(shop, facts);
  if tg_op <> 'UPDATE' then
    ids := array(select subscription_id from (select 1 as sign, * from new_rows union all select -1, * from old_rows) changes where shop_id = shop);
    perform refresh_subscription_values(shop, ids);
    if tg_op = 'INSERT' then perform refresh_saved(shop, ids); end if;
    ids := array(select subscription_id from (select 1 as sign, * from new_rows union all select -1, * from old_rows) changes where shop_id = shop and past_values is not null);
    perform refresh_price_changes(shop, ids);
  end if;
  ids := array(
    select distinct customer_id from (
      select customer_id from (select 1 as sign, * from new_rows union all select -1, * from old_rows) changes
      where shop_id = shop
        and (tg_op <> 'INSERT' or status = 'active' and status_since = created_at or status_since is null)
      group by subscription_id, customer_id, plan_id, status, status_since, current_price,
        own_interval_unit, own_interval_count, created_at, trial_ends_at, other_intervals, past_values
      having sum(sign) <> 0
    ) changed
  );
  perform refresh_subscribers(shop, ids);

        end loop;
        return null;
      end$$;

CREATE FUNCTION public.superseded_facts_of(shop bigint, subscription_ids bigint[]) RETURNS SETOF public.superseded_fact
    LANGUAGE plpgsql STABLE
    AS $$
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

CREATE FUNCTION public.superseded_reach(since timestamp with time zone, until timestamp with time zone) RETURNS smallint
    LANGUAGE sql IMMUTABLE
    AS $$
  select coalesce(min(days), 32767)::smallint from unnest('{1,4,16,64,256,1024}'::integer[]) days
  where until - since <= days * interval '24 hours'
$$;

CREATE FUNCTION public.values_of(past_values jsonb) RETURNS TABLE(since timestamp with time zone, until timestamp with time zone, amounts jsonb)
    LANGUAGE sql IMMUTABLE
    AS $$
  select v.since, v.until,
    case when v.amounts::text ~ ' \d+ \d+"' then amounts_without_plans(v.amounts) else v.amounts end
  from (
    select case when lag(at) over by_time is null then '-infinity' else at end as since,
      lead(at, 1, 'infinity') over by_time as until, amounts
    from (
      select timestamptz 'epoch' + (seen ->> 0)::bigint * interval '1 millisecond' as at, seen -> 1 as amounts, position
      from jsonb_array_elements(past_values) with ordinality s (seen, position) where jsonb_typeof(seen -> 1) = 'object'
    ) known
    window by_time as (order by at, position)
  ) v
  where v.until > v.since
$$;

CREATE FUNCTION public.without_plan(billed text) RETURNS text
    LANGUAGE sql IMMUTABLE
    AS $$
  select substring(billed from '^(?:\w+ \d+)?')
$$;

CREATE FUNCTION public.worth_apart(at timestamp with time zone, price numeric, other_intervals jsonb, past_values jsonb, billed text) RETURNS numeric
    LANGUAGE sql IMMUTABLE
    AS $$
  select worth_of(coalesce(
    -- Times are kept to the millisecond; amounts_before takes three times as long.
    case when past_values is not null then amounts_at(past_values, at - interval '1 millisecond') end,
    amounts_of(price, other_intervals)
  ), billed)
$$;

CREATE FUNCTION public.worth_of(amounts jsonb, billed text) RETURNS numeric
    LANGUAGE sql IMMUTABLE
    AS $$
  select coalesce(sum(monthly_amount(value::numeric, coalesce(nullif(key, ''), billed))), 0)
  from jsonb_each_text(amounts)
$$;

CREATE FUNCTION public.worth_until(at timestamp with time zone, price numeric, other_intervals jsonb, past_values jsonb, trial_ends_at timestamp with time zone, own_unit text, own_count integer, plan_unit text, plan_count integer) RETURNS numeric
    LANGUAGE sql IMMUTABLE
    AS $$
  select trim_scale(round(case
    when trial_ends_at >= at then 0
    when past_values is not null
      then worth_apart(at, price, other_intervals, past_values, plan_unit || ' ' || plan_count::text)
    when other_intervals is not null
      then worth_apart(at, price, other_intervals, null, coalesce(own_unit, plan_unit) || ' ' || coalesce(own_count, plan_count)::text)
    else monthly_amount(price, coalesce(own_unit, plan_unit) || ' ' || coalesce(own_count, plan_count)::text)
  end, 12))
$$;

CREATE FUNCTION served.shop_id() RETURNS bigint
    LANGUAGE sql STABLE
    AS $$
  select nullif(current_setting('retention.shop_id', true), '')::bigint
$$;

CREATE TABLE ingest.batches (
    shop_id bigint NOT NULL,
    source_id text NOT NULL,
    batch_id uuid NOT NULL,
    "position" bigint NOT NULL,
    digest text NOT NULL,
    received_at timestamp(3) with time zone NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    lines text,
    is_waiting boolean DEFAULT false NOT NULL,
    outcomes text NOT NULL,
    refused text NOT NULL,
    has_failed boolean DEFAULT false NOT NULL,
    finished_at timestamp(3) with time zone,
    retry_at timestamp(3) with time zone,
    waiting_keys text[] DEFAULT '{}'::text[] NOT NULL,
    refused_count integer DEFAULT 0 NOT NULL
);

ALTER TABLE ingest.batches ALTER COLUMN "position" ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME ingest.batches_position_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE ingest.remembered_answers (
    shop_id bigint NOT NULL,
    headings text NOT NULL,
    answers text NOT NULL,
    saved_at timestamp(3) with time zone NOT NULL
);

CREATE TABLE ingest.sources (
    shop_id bigint NOT NULL,
    source_id text NOT NULL,
    name text NOT NULL,
    created_by text NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    secret text,
    previous_secret text,
    previous_until timestamp(3) with time zone,
    revoked_at timestamp(3) with time zone,
    scheme text DEFAULT 'standard'::text NOT NULL
);

CREATE TABLE ingest.uploads (
    shop_id bigint NOT NULL,
    upload_id uuid NOT NULL,
    file_name text NOT NULL,
    bytes bigint NOT NULL,
    received_at timestamp(3) with time zone NOT NULL,
    state text NOT NULL,
    answers text DEFAULT '{}'::text NOT NULL,
    active_at timestamp(3) with time zone,
    percent integer DEFAULT 0 NOT NULL,
    counts text DEFAULT '{}'::text NOT NULL,
    refused text DEFAULT '{"groups":[],"lines":[]}'::text NOT NULL,
    skipped bigint DEFAULT 0 NOT NULL,
    problem text,
    finished_at timestamp(3) with time zone,
    figures text DEFAULT 'null'::text NOT NULL,
    CONSTRAINT uploads_state_check CHECK ((state = ANY (ARRAY['waiting'::text, 'running'::text, 'stopping'::text, 'done'::text, 'failed'::text, 'stopped'::text, 'interrupted'::text])))
);

CREATE TABLE owners.accounts (
    owner_id uuid DEFAULT gen_random_uuid() NOT NULL,
    email text NOT NULL,
    password_hash text,
    created_at timestamp(3) with time zone NOT NULL,
    name text,
    CONSTRAINT accounts_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 80)))
);

CREATE TABLE owners.attempts (
    attempt_id uuid DEFAULT gen_random_uuid() NOT NULL,
    at timestamp(3) with time zone NOT NULL,
    account bytea,
    address bytea,
    CONSTRAINT attempts_account_check CHECK ((octet_length(account) = 32)),
    CONSTRAINT attempts_address_check CHECK ((octet_length(address) = 32))
);

CREATE TABLE owners.challenges (
    token_hash bytea NOT NULL,
    owner_id uuid,
    expires_at timestamp(3) with time zone NOT NULL,
    sso_provider bigint,
    link_hash bytea,
    CONSTRAINT challenges_token_hash_check CHECK ((octet_length(token_hash) = 32))
);

CREATE TABLE owners.devices (
    token_hash bytea NOT NULL,
    owner_id uuid NOT NULL,
    signed_in_at timestamp(3) with time zone NOT NULL,
    failures integer DEFAULT 0 NOT NULL,
    CONSTRAINT devices_token_hash_check CHECK ((octet_length(token_hash) = 32))
);

CREATE TABLE owners.events (
    shop_id bigint NOT NULL,
    at timestamp(3) with time zone NOT NULL,
    kind text NOT NULL,
    detail text NOT NULL,
    CONSTRAINT events_detail_check CHECK (((octet_length(detail) >= 1) AND (octet_length(detail) <= 4000))),
    CONSTRAINT events_kind_check CHECK ((kind = ANY (ARRAY['import'::text, 'alert'::text])))
);

CREATE TABLE owners.factors (
    factor_id uuid DEFAULT gen_random_uuid() NOT NULL,
    owner_id uuid NOT NULL,
    credential_id bytea,
    name text NOT NULL,
    key text NOT NULL,
    counter bigint DEFAULT 0 NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    used_at timestamp(3) with time zone,
    CONSTRAINT factors_credential_id_check CHECK (((octet_length(credential_id) >= 1) AND (octet_length(credential_id) <= 1023))),
    CONSTRAINT factors_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 100)))
);

CREATE TABLE owners.links (
    token_hash bytea NOT NULL,
    owner_id uuid NOT NULL,
    shop_id bigint,
    created_at timestamp(3) with time zone NOT NULL,
    expires_at timestamp(3) with time zone NOT NULL,
    used_at timestamp(3) with time zone,
    role text DEFAULT 'owner'::text NOT NULL,
    invited_by uuid,
    CONSTRAINT links_role_check CHECK ((role = ANY (ARRAY['owner'::text, 'developer'::text, 'analyst'::text]))),
    CONSTRAINT links_token_hash_check CHECK ((octet_length(token_hash) = 32))
);

CREATE TABLE public.audit_entries (
    shop_id bigint NOT NULL,
    number bigint NOT NULL,
    at timestamp(3) with time zone NOT NULL,
    who text NOT NULL,
    session text,
    what text NOT NULL,
    target text,
    network text,
    previous bytea NOT NULL,
    hash bytea NOT NULL,
    CONSTRAINT audit_entries_hash_check CHECK ((octet_length(hash) = 32)),
    CONSTRAINT audit_entries_previous_check CHECK ((octet_length(previous) = 32))
);

CREATE VIEW owners.log AS
 SELECT audit_entries.number AS entry_id,
    audit_entries.shop_id,
    audit_entries.at,
        CASE
            WHEN (audit_entries.who ~~ 'owner %'::text) THEN (substr(audit_entries.who, 7))::uuid
            ELSE NULL::uuid
        END AS owner_id,
    audit_entries.what AS action,
    split_part(audit_entries.target, ' '::text, 1) AS key_id,
    substr(audit_entries.target, (strpos(audit_entries.target, ' '::text) + 1)) AS key_name
   FROM public.audit_entries
  WHERE (audit_entries.what = ANY (ARRAY['key_created'::text, 'key_revoked'::text, 'key_rotated'::text, 'key_uninstalled'::text]));

CREATE TABLE owners.memberships (
    owner_id uuid NOT NULL,
    shop_id bigint NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    role text DEFAULT 'owner'::text NOT NULL,
    CONSTRAINT memberships_role_check CHECK ((role = ANY (ARRAY['owner'::text, 'developer'::text, 'analyst'::text])))
);

CREATE TABLE owners.notifications (
    owner_id uuid NOT NULL,
    shop_id bigint NOT NULL,
    digest boolean NOT NULL,
    unusual boolean NOT NULL,
    max_churn_rate numeric,
    max_outstanding integer,
    min_mrr numeric,
    exceeded text[] DEFAULT '{}'::text[] NOT NULL,
    unsubscribe_secret text NOT NULL,
    digest_until timestamp(3) with time zone NOT NULL,
    alerts_until timestamp(3) with time zone NOT NULL,
    claimed_until timestamp(3) with time zone,
    CONSTRAINT notifications_max_churn_rate_check CHECK (((max_churn_rate >= (0)::numeric) AND (max_churn_rate <= (1)::numeric))),
    CONSTRAINT notifications_max_outstanding_check CHECK ((max_outstanding >= 0)),
    CONSTRAINT notifications_min_mrr_check CHECK ((min_mrr >= (0)::numeric))
);

CREATE TABLE owners.recovery_codes (
    owner_id uuid NOT NULL,
    code_hash bytea NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    used_at timestamp(3) with time zone,
    CONSTRAINT recovery_codes_code_hash_check CHECK ((octet_length(code_hash) = 32))
);

CREATE TABLE owners.segments (
    shop_id bigint NOT NULL,
    name text NOT NULL,
    query text NOT NULL,
    CONSTRAINT segments_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 80)))
);

CREATE TABLE owners.service_address (
    is_only boolean DEFAULT true NOT NULL,
    url text NOT NULL,
    CONSTRAINT service_address_is_only_check CHECK (is_only)
);

CREATE TABLE owners.sessions (
    token_hash bytea NOT NULL,
    owner_id uuid NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    seen_at timestamp(3) with time zone NOT NULL,
    browser text,
    network text,
    proved_at timestamp(3) with time zone,
    sso_provider bigint,
    CONSTRAINT sessions_browser_check CHECK ((char_length(browser) <= 80)),
    CONSTRAINT sessions_network_check CHECK ((char_length(network) <= 80)),
    CONSTRAINT sessions_token_hash_check CHECK ((octet_length(token_hash) = 32))
);

CREATE TABLE owners.shop_policies (
    shop_id bigint NOT NULL,
    requires_second_factor boolean NOT NULL
);

CREATE TABLE owners.sso_providers (
    shop_id bigint NOT NULL,
    issuer text NOT NULL,
    client_id text NOT NULL,
    client_secret text NOT NULL,
    domain text NOT NULL,
    verification text NOT NULL,
    verified_at timestamp(3) with time zone,
    role_claim text,
    roles jsonb DEFAULT '{}'::jsonb NOT NULL,
    default_role text,
    replaces_passwords boolean DEFAULT false NOT NULL,
    CONSTRAINT sso_providers_default_role_check CHECK ((default_role = ANY (ARRAY['owner'::text, 'developer'::text, 'analyst'::text])))
);

CREATE TABLE platforms.connections (
    shop_id bigint NOT NULL,
    platform text NOT NULL,
    account text NOT NULL,
    credentials text NOT NULL,
    connected_at timestamp(3) with time zone NOT NULL,
    renewing_by uuid,
    renewing_until timestamp(3) with time zone,
    is_shared boolean DEFAULT false NOT NULL,
    draft text
);

CREATE TABLE platforms.streams (
    shop_id bigint NOT NULL,
    stream text NOT NULL,
    account text NOT NULL,
    types text[] NOT NULL,
    cursor text,
    read_at timestamp(3) with time zone,
    whole_at timestamp(3) with time zone,
    rows bigint DEFAULT 0 NOT NULL,
    platform text DEFAULT 'postgres'::text NOT NULL,
    rows_digest text,
    mapped_at timestamp(3) with time zone
);

CREATE TABLE platforms.syncs (
    shop_id bigint NOT NULL,
    platform text NOT NULL,
    due_at timestamp(3) with time zone NOT NULL,
    failures integer DEFAULT 0 NOT NULL,
    problem text,
    refused_at timestamp(3) with time zone,
    refused_version text,
    reason text,
    takes_over boolean DEFAULT false NOT NULL,
    refused integer DEFAULT 0 NOT NULL,
    refused_records_at timestamp(3) with time zone,
    refusals text DEFAULT '[]'::text NOT NULL
);

CREATE TABLE public.api_keys (
    shop_id bigint NOT NULL,
    key_id text NOT NULL,
    hash bytea NOT NULL,
    last_four text NOT NULL,
    name text NOT NULL,
    scopes text[] NOT NULL,
    created_by text NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    last_used_at timestamp(3) with time zone,
    revoked_at timestamp(3) with time zone,
    expires_at timestamp(3) with time zone,
    replaced_by text,
    networks text[] DEFAULT '{}'::text[] NOT NULL,
    CONSTRAINT api_keys_hash_check CHECK ((octet_length(hash) = 32))
);

CREATE TABLE public.plans (
    shop_id bigint NOT NULL,
    plan_id bigint NOT NULL,
    name text NOT NULL,
    group_name text NOT NULL,
    plan_type text NOT NULL,
    interval_unit text NOT NULL,
    interval_count integer NOT NULL,
    active boolean NOT NULL,
    product_count integer NOT NULL,
    discount_type text NOT NULL,
    discount_value numeric NOT NULL,
    pricing_summary text NOT NULL,
    updated_at timestamp(3) with time zone,
    digest uuid NOT NULL,
    CONSTRAINT plans_discount_type_check CHECK ((discount_type = ANY (ARRAY['percentage'::text, 'fixed_amount'::text, 'price'::text, 'none'::text]))),
    CONSTRAINT plans_interval_count_check CHECK (((interval_count >= 1) AND (interval_count <= 1000))),
    CONSTRAINT plans_interval_unit_check CHECK ((interval_unit = ANY (ARRAY['day'::text, 'week'::text, 'month'::text, 'year'::text]))),
    CONSTRAINT plans_plan_type_check CHECK ((plan_type = ANY (ARRAY['subscription'::text, 'prepaid'::text, 'membership'::text, 'other'::text])))
);

CREATE TABLE public.subscriptions (
    shop_id bigint NOT NULL,
    subscription_id bigint NOT NULL,
    customer_id bigint NOT NULL,
    plan_id bigint NOT NULL,
    status text NOT NULL,
    status_since timestamp(3) with time zone,
    current_price numeric NOT NULL,
    own_interval_unit text,
    own_interval_count integer,
    next_billing_at timestamp(3) with time zone,
    paid_through_at timestamp(3) with time zone,
    created_at timestamp(3) with time zone NOT NULL,
    updated_at timestamp(3) with time zone,
    digest uuid NOT NULL,
    paid_periods jsonb,
    saved_at timestamp(3) with time zone,
    trial_ends_at timestamp(3) with time zone,
    other_intervals jsonb,
    past_values jsonb,
    feed text,
    CONSTRAINT subscriptions_own_interval_count_check CHECK (((own_interval_count >= 1) AND (own_interval_count <= 1000))),
    CONSTRAINT subscriptions_own_interval_unit_check CHECK ((own_interval_unit = ANY (ARRAY['day'::text, 'week'::text, 'month'::text, 'year'::text]))),
    CONSTRAINT subscriptions_status_check CHECK ((status = ANY (ARRAY['active'::text, 'paused'::text, 'cancelled'::text, 'expired'::text, 'failed'::text])))
);

CREATE VIEW public.asked_entitlements AS
 SELECT requested.place,
    s.subscription_id AS "subscriptionId",
    s.plan_id AS "planId",
    p.name AS "planName",
    p.plan_type AS "planType",
    s.status,
    ((date_part('epoch'::text, s.paid_through_at) * (1000)::double precision))::bigint AS "paidThroughAt",
    ((date_part('epoch'::text, s.status_since) * (1000)::double precision))::bigint AS "statusSince"
   FROM ( SELECT (NULLIF(current_setting('retention.asked'::text, true), ''::text))::bigint[] AS pairs
         OFFSET 0) asked,
    LATERAL UNNEST(asked.pairs[1:1], asked.pairs[2:2]) WITH ORDINALITY requested(shop_id, customer_id, place),
    LATERAL ( SELECT subscriptions.shop_id,
            subscriptions.subscription_id,
            subscriptions.customer_id,
            subscriptions.plan_id,
            subscriptions.status,
            subscriptions.status_since,
            subscriptions.current_price,
            subscriptions.own_interval_unit,
            subscriptions.own_interval_count,
            subscriptions.next_billing_at,
            subscriptions.paid_through_at,
            subscriptions.created_at,
            subscriptions.updated_at,
            subscriptions.digest,
            subscriptions.paid_periods,
            subscriptions.saved_at,
            subscriptions.trial_ends_at,
            subscriptions.other_intervals,
            subscriptions.past_values,
            subscriptions.feed
           FROM public.subscriptions
          WHERE ((subscriptions.shop_id = requested.shop_id) AND ((subscriptions.customer_id >= requested.customer_id) AND (subscriptions.customer_id <= requested.customer_id)))
          ORDER BY subscriptions.customer_id) s,
    LATERAL ( SELECT plans.shop_id,
            plans.plan_id,
            plans.name,
            plans.group_name,
            plans.plan_type,
            plans.interval_unit,
            plans.interval_count,
            plans.active,
            plans.product_count,
            plans.discount_type,
            plans.discount_value,
            plans.pricing_summary,
            plans.updated_at,
            plans.digest
           FROM public.plans
          WHERE ((plans.shop_id = s.shop_id) AND (plans.plan_id = s.plan_id))
          ORDER BY plans.plan_id) p;

CREATE TABLE public.audit_heads (
    shop_id bigint NOT NULL,
    number bigint NOT NULL,
    hash bytea NOT NULL,
    minute timestamp(3) with time zone,
    limited integer DEFAULT 0 NOT NULL,
    omitted bigint DEFAULT 0 NOT NULL,
    CONSTRAINT audit_heads_hash_check CHECK ((octet_length(hash) = 32))
);

CREATE TABLE public.cancellation_sessions (
    shop_id bigint NOT NULL,
    session_id bigint NOT NULL,
    subscription_id bigint,
    detected_reason text NOT NULL,
    offer_type text,
    outcome text,
    created_at timestamp(3) with time zone NOT NULL,
    updated_at timestamp(3) with time zone,
    digest uuid NOT NULL,
    CONSTRAINT cancellation_sessions_offer_type_check CHECK ((offer_type = ANY (ARRAY['offer_discount'::text, 'pause'::text, 'swap'::text, 'skip_next'::text]))),
    CONSTRAINT cancellation_sessions_outcome_check CHECK ((outcome = ANY (ARRAY['saved'::text, 'cancelled'::text, 'abandoned'::text])))
);

CREATE TABLE public.contacted_cases (
    shop_id bigint NOT NULL,
    subscription_id bigint NOT NULL,
    opened_at timestamp(3) with time zone NOT NULL,
    contacted_at timestamp(3) with time zone NOT NULL,
    contacted_by text NOT NULL
);

CREATE TABLE public.customer_keys (
    shop_id bigint NOT NULL,
    key text NOT NULL,
    CONSTRAINT customer_keys_key_check CHECK ((key ~ '^[0-9a-f]{64}$'::text))
);

CREATE TABLE public.customer_values (
    shop_id bigint NOT NULL,
    customer_id bigint NOT NULL,
    since timestamp(3) with time zone NOT NULL,
    value numeric NOT NULL
);

CREATE TABLE public.customers (
    shop_id bigint NOT NULL,
    customer_id bigint NOT NULL
);

CREATE TABLE public.departures (
    shop_id bigint NOT NULL,
    subscription_id bigint NOT NULL,
    left_at timestamp(3) with time zone NOT NULL,
    plan_id bigint NOT NULL,
    cause text NOT NULL,
    age_days integer NOT NULL,
    value numeric DEFAULT 0 NOT NULL,
    CONSTRAINT departures_cause_check CHECK ((cause = ANY (ARRAY['cancelled'::text, 'failed'::text])))
);

CREATE TABLE public.dunning_cases (
    shop_id bigint NOT NULL,
    subscription_id bigint NOT NULL,
    "position" integer NOT NULL,
    opened_at timestamp(3) with time zone NOT NULL,
    closed_at timestamp(3) with time zone,
    result text,
    amount numeric,
    failure_code text,
    attempts integer,
    CONSTRAINT dunning_cases_check CHECK (((closed_at IS NULL) = (result IS NULL))),
    CONSTRAINT dunning_cases_result_check CHECK ((result = ANY (ARRAY['recovered'::text, 'lost'::text])))
);

CREATE TABLE public.export_dates (
    shop_id bigint NOT NULL,
    kind text NOT NULL,
    id bigint NOT NULL,
    exported_at timestamp(3) with time zone NOT NULL,
    sightings text,
    CONSTRAINT export_dates_kind_check CHECK ((kind = ANY (ARRAY['plan'::text, 'subscription'::text, 'payment'::text, 'refund'::text, 'cancellation'::text])))
);

CREATE TABLE public.failed_cycles (
    shop_id bigint NOT NULL,
    subscription_id bigint NOT NULL,
    cycle text NOT NULL,
    failed_at timestamp(3) with time zone NOT NULL,
    is_last boolean NOT NULL
);

CREATE TABLE public.feeds (
    shop_id bigint NOT NULL,
    feed text NOT NULL,
    arrived_at timestamp(3) with time zone,
    newest_at timestamp(3) with time zone,
    completed_at timestamp(3) with time zone
);

CREATE TABLE public.key_generation (
    is_only boolean DEFAULT true NOT NULL,
    value uuid DEFAULT gen_random_uuid() NOT NULL,
    changed_by xid8,
    CONSTRAINT key_generation_is_only_check CHECK (is_only)
);

CREATE TABLE public.key_uses (
    shop_id bigint NOT NULL,
    key_id text NOT NULL,
    last_used_at timestamp(3) with time zone NOT NULL
);

CREATE TABLE public.metric_ledger (
    shop_id bigint NOT NULL,
    grain text NOT NULL COLLATE pg_catalog."C",
    bucket timestamp with time zone NOT NULL,
    fact text NOT NULL COLLATE pg_catalog."C",
    count bigint NOT NULL,
    amount numeric NOT NULL,
    CONSTRAINT metric_ledger_grain_check CHECK ((grain = ANY (ARRAY['minute'::text, 'hour'::text, 'day'::text, 'month'::text, 'shift'::text, 'all'::text, 'present'::text, 'price'::text])))
)
WITH (fillfactor='70');

CREATE TABLE public.metric_shops (
    shop_id bigint NOT NULL,
    hours_since timestamp with time zone DEFAULT date_bin('1 day'::interval, (now() - '40 days'::interval), '1970-01-01 00:00:00+00'::timestamp with time zone) NOT NULL,
    writer xid8,
    values_since timestamp(3) with time zone DEFAULT now() NOT NULL,
    move_id uuid,
    moving_to text
);

CREATE TABLE public.payments (
    shop_id bigint NOT NULL,
    payment_id bigint NOT NULL,
    subscription_id bigint NOT NULL,
    cycle text NOT NULL,
    status text NOT NULL,
    failure_kind text,
    amount numeric NOT NULL,
    processed_at timestamp(3) with time zone NOT NULL,
    updated_at timestamp(3) with time zone,
    digest uuid NOT NULL,
    failure_code text,
    CONSTRAINT payments_failure_kind_check CHECK ((failure_kind = ANY (ARRAY['payment'::text, 'inventory'::text]))),
    CONSTRAINT payments_status_check CHECK ((status = ANY (ARRAY['succeeded'::text, 'failed'::text, 'pending'::text])))
);

CREATE TABLE public.price_changes (
    shop_id bigint NOT NULL,
    subscription_id bigint NOT NULL,
    at timestamp(3) with time zone NOT NULL,
    plan_id bigint NOT NULL,
    was numeric NOT NULL,
    became numeric NOT NULL,
    left_at timestamp(3) with time zone,
    lost numeric
);

CREATE TABLE public.redacted_customers (
    shop_id bigint NOT NULL,
    customer_hash bytea NOT NULL,
    CONSTRAINT redacted_customers_customer_hash_check CHECK ((octet_length(customer_hash) = 32))
);

CREATE TABLE public.refunds (
    shop_id bigint NOT NULL,
    refund_id bigint NOT NULL,
    payment_id bigint NOT NULL,
    amount numeric NOT NULL,
    refunded_at timestamp(3) with time zone NOT NULL,
    updated_at timestamp(3) with time zone,
    digest uuid NOT NULL
);

CREATE TABLE public.request_batches (
    shop_id bigint NOT NULL,
    last_at timestamp(3) with time zone NOT NULL,
    batch_id uuid NOT NULL,
    requests integer NOT NULL,
    at timestamp(3) with time zone[] NOT NULL,
    request_id uuid[] NOT NULL,
    key_id text[] NOT NULL,
    transport text[] NOT NULL,
    operation text[] NOT NULL,
    status integer[] NOT NULL,
    microseconds bigint[] NOT NULL,
    dropped bigint[] NOT NULL
);

CREATE TABLE public.request_counts (
    shop_id bigint NOT NULL,
    key_id text NOT NULL,
    hour timestamp(3) with time zone NOT NULL,
    operation text NOT NULL,
    status integer NOT NULL,
    requests bigint NOT NULL,
    CONSTRAINT request_counts_requests_check CHECK ((requests > 0))
);

CREATE TABLE public.request_log (
    shop_id bigint NOT NULL,
    at timestamp(3) with time zone NOT NULL,
    request_id uuid NOT NULL,
    key_id text NOT NULL,
    transport text NOT NULL,
    operation text NOT NULL,
    status integer NOT NULL,
    microseconds bigint NOT NULL,
    dropped bigint NOT NULL
);

CREATE TABLE public.schema_migrations (
    version integer NOT NULL,
    name text NOT NULL,
    applied_at timestamp with time zone NOT NULL
);

CREATE TABLE public.shopify_syncs (
    shop_id bigint NOT NULL,
    domain text NOT NULL,
    watermark timestamp(3) with time zone,
    reconciled_at timestamp(3) with time zone,
    plans_operation text,
    contracts_operation text,
    operations_begun_at timestamp(3) with time zone,
    payments_watermark timestamp(3) with time zone
);

CREATE TABLE public.shops (
    shop_id bigint NOT NULL,
    name text NOT NULL,
    tier text NOT NULL,
    currency text NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    customer_link text,
    deleting_since timestamp(3) with time zone,
    keep_months jsonb,
    key_default_days integer,
    key_max_days integer,
    CONSTRAINT shops_currency_check CHECK ((currency ~ '^[A-Z]{3}$'::text)),
    CONSTRAINT shops_customer_link_check CHECK (((octet_length(customer_link) >= 1) AND (octet_length(customer_link) <= 500))),
    CONSTRAINT shops_key_default_days_check CHECK (((key_default_days >= 1) AND (key_default_days <= 3650))),
    CONSTRAINT shops_key_max_days_check CHECK (((key_max_days >= 1) AND (key_max_days <= 3650))),
    CONSTRAINT shops_shop_id_check CHECK (((shop_id >= 1) AND (shop_id <= '9007199254740991'::bigint))),
    CONSTRAINT shops_tier_check CHECK ((tier = ANY (ARRAY['free'::text, 'starter'::text, 'growth'::text, 'pro'::text, 'enterprise_plus'::text])))
);

CREATE TABLE public.snapshot_dates (
    shop_id bigint NOT NULL,
    kind text NOT NULL,
    exported_at timestamp(3) with time zone NOT NULL,
    exports text,
    CONSTRAINT snapshot_dates_kind_check CHECK ((kind = ANY (ARRAY['plan'::text, 'subscription'::text, 'payment'::text, 'refund'::text, 'cancellation'::text])))
);

CREATE TABLE public.source_ids (
    shop_id bigint NOT NULL,
    kind text NOT NULL,
    id bigint NOT NULL,
    source_id text NOT NULL,
    CONSTRAINT source_ids_kind_check CHECK ((kind = ANY (ARRAY['plan'::text, 'subscription'::text, 'customer'::text, 'payment'::text, 'refund'::text, 'cancellation'::text]))),
    CONSTRAINT source_ids_source_id_check CHECK (((octet_length(source_id) >= 1) AND (octet_length(source_id) <= 200)))
);

CREATE TABLE public.status_events (
    shop_id bigint NOT NULL,
    subscription_id bigint NOT NULL,
    "position" smallint NOT NULL,
    at timestamp(3) with time zone NOT NULL,
    from_status text NOT NULL,
    to_status text NOT NULL
);

CREATE TABLE public.subscriber_changes (
    shop_id bigint NOT NULL,
    customer_id bigint NOT NULL,
    at timestamp(3) with time zone NOT NULL,
    new_subscriber integer NOT NULL,
    subscriber integer NOT NULL,
    paused_subscriber integer NOT NULL,
    live integer NOT NULL,
    cancelled integer NOT NULL,
    cancelled_before integer NOT NULL,
    churned integer NOT NULL,
    expired integer NOT NULL,
    active public.active_change[] NOT NULL,
    churned_failed integer DEFAULT 0 NOT NULL,
    cohort text,
    trial integer DEFAULT 0 NOT NULL,
    trial_amount numeric DEFAULT 0 NOT NULL,
    paused_undated integer DEFAULT 0 NOT NULL
);

CREATE VIEW public.subscriber_facts AS
 SELECT c.shop_id,
    c.at,
    v.fact,
    v.count,
    v.amount
   FROM (public.subscriber_changes c
     CROSS JOIN LATERAL ( VALUES ('new_subscriber'::text,c.new_subscriber,0), ('subscriber'::text,c.subscriber,0), ('paused_subscriber'::text,c.paused_subscriber,0), ('paused_undated'::text,c.paused_undated,0), ('trial'::text,c.trial,c.trial_amount), ('live'::text,c.live,0), ('cancelled'::text,c.cancelled,0), ('cancelled_before'::text,c.cancelled_before,0), ('churned'::text,c.churned,0), ('churned_failed'::text,c.churned_failed,0), ('expired'::text,c.expired,0), ((('cohort '::text || c.cohort) || ' customers'::text),c.new_subscriber,0), ((('cohort '::text || c.cohort) || ' retained'::text),(c.subscriber + c.paused_subscriber),0)
        UNION ALL
         SELECT a.fact,
            a.count,
            a.amount
           FROM unnest(c.active) a(fact, count, amount)
        UNION ALL
         SELECT ((('cohort '::text || c.cohort) || ' '::text) || public.interval_of_fact(a.fact)),
            a.count,
            a.amount
           FROM unnest(c.active) a(fact, count, amount)) v(fact, count, amount))
  WHERE ((v.count <> 0) OR (v.amount <> (0)::numeric));

CREATE TABLE public.subscription_lines (
    shop_id bigint NOT NULL,
    subscription_id bigint NOT NULL,
    line_id bigint NOT NULL,
    "position" smallint NOT NULL,
    product_id bigint NOT NULL,
    product_title text NOT NULL,
    variant_id bigint NOT NULL,
    variant_title text NOT NULL,
    quantity integer NOT NULL,
    current_price numeric NOT NULL,
    interval_unit text,
    interval_count integer
);

CREATE TABLE public.subscription_values (
    shop_id bigint NOT NULL,
    subscription_id bigint NOT NULL,
    status text NOT NULL,
    value numeric NOT NULL
);

CREATE TABLE public.superseded_facts (
    shop_id bigint NOT NULL,
    subscription_id bigint NOT NULL,
    fact text NOT NULL,
    cycle text NOT NULL,
    until timestamp(3) with time zone NOT NULL,
    since timestamp(3) with time zone NOT NULL,
    began_at timestamp(3) with time zone NOT NULL,
    left_as text NOT NULL,
    final text NOT NULL,
    reach smallint NOT NULL
);

CREATE VIEW served.api_keys AS
 SELECT api_keys.shop_id,
    api_keys.key_id,
    api_keys.hash,
    api_keys.last_four,
    api_keys.name,
    api_keys.scopes,
    api_keys.created_by,
    api_keys.created_at,
    api_keys.last_used_at,
    api_keys.revoked_at,
    api_keys.expires_at,
    api_keys.replaced_by,
    api_keys.networks
   FROM public.api_keys
  WHERE (api_keys.shop_id = served.shop_id());

CREATE VIEW served.cancellation_sessions AS
 SELECT cancellation_sessions.shop_id,
    cancellation_sessions.session_id,
    cancellation_sessions.subscription_id,
    cancellation_sessions.detected_reason,
    cancellation_sessions.offer_type,
    cancellation_sessions.outcome,
    cancellation_sessions.created_at,
    cancellation_sessions.updated_at,
    cancellation_sessions.digest
   FROM public.cancellation_sessions
  WHERE (cancellation_sessions.shop_id = served.shop_id());

CREATE VIEW served.contacted_cases AS
 SELECT contacted_cases.shop_id,
    contacted_cases.subscription_id,
    contacted_cases.opened_at,
    contacted_cases.contacted_at,
    contacted_cases.contacted_by
   FROM public.contacted_cases
  WHERE (contacted_cases.shop_id = served.shop_id());

CREATE VIEW served.customer_values AS
 SELECT customer_values.shop_id,
    customer_values.customer_id,
    customer_values.since,
    customer_values.value
   FROM public.customer_values
  WHERE (customer_values.shop_id = served.shop_id());

CREATE VIEW served.departures AS
 SELECT departures.shop_id,
    departures.subscription_id,
    departures.left_at,
    departures.plan_id,
    departures.cause,
    departures.age_days,
    departures.value
   FROM public.departures
  WHERE (departures.shop_id = served.shop_id());

CREATE VIEW served.dunning_cases AS
 SELECT dunning_cases.shop_id,
    dunning_cases.subscription_id,
    dunning_cases."position",
    dunning_cases.opened_at,
    dunning_cases.closed_at,
    dunning_cases.result,
    dunning_cases.amount,
    dunning_cases.failure_code,
    dunning_cases.attempts
   FROM public.dunning_cases
  WHERE (dunning_cases.shop_id = served.shop_id());

CREATE VIEW served.failed_cycles AS
 SELECT failed_cycles.shop_id,
    failed_cycles.subscription_id,
    failed_cycles.cycle,
    failed_cycles.failed_at,
    failed_cycles.is_last
   FROM public.failed_cycles
  WHERE (failed_cycles.shop_id = served.shop_id());

CREATE VIEW served.feeds AS
 SELECT feeds.shop_id,
    feeds.feed,
    feeds.arrived_at,
    feeds.newest_at,
    feeds.completed_at
   FROM public.feeds
  WHERE (feeds.shop_id = served.shop_id());

CREATE VIEW served.metric_ledger AS
 SELECT metric_ledger.shop_id,
    metric_ledger.grain,
    metric_ledger.bucket,
    metric_ledger.fact,
    metric_ledger.count,
    metric_ledger.amount
   FROM public.metric_ledger
  WHERE (metric_ledger.shop_id = served.shop_id());

CREATE VIEW served.metric_shops AS
 SELECT metric_shops.shop_id,
    metric_shops.hours_since,
    metric_shops.writer,
    metric_shops.values_since,
    metric_shops.move_id,
    metric_shops.moving_to
   FROM public.metric_shops
  WHERE (metric_shops.shop_id = served.shop_id());

CREATE VIEW served.payments AS
 SELECT payments.shop_id,
    payments.payment_id,
    payments.subscription_id,
    payments.cycle,
    payments.status,
    payments.failure_kind,
    payments.amount,
    payments.processed_at,
    payments.updated_at,
    payments.digest,
    payments.failure_code
   FROM public.payments
  WHERE (payments.shop_id = served.shop_id());

CREATE VIEW served.plans AS
 SELECT plans.shop_id,
    plans.plan_id,
    plans.name,
    plans.group_name,
    plans.plan_type,
    plans.interval_unit,
    plans.interval_count,
    plans.active,
    plans.product_count,
    plans.discount_type,
    plans.discount_value,
    plans.pricing_summary,
    plans.updated_at,
    plans.digest
   FROM public.plans
  WHERE (plans.shop_id = served.shop_id());

CREATE VIEW served.price_changes AS
 SELECT price_changes.shop_id,
    price_changes.subscription_id,
    price_changes.at,
    price_changes.plan_id,
    price_changes.was,
    price_changes.became,
    price_changes.left_at,
    price_changes.lost
   FROM public.price_changes
  WHERE (price_changes.shop_id = served.shop_id());

CREATE VIEW served.refunds AS
 SELECT refunds.shop_id,
    refunds.refund_id,
    refunds.payment_id,
    refunds.amount,
    refunds.refunded_at,
    refunds.updated_at,
    refunds.digest
   FROM public.refunds
  WHERE (refunds.shop_id = served.shop_id());

CREATE VIEW served.shops AS
 SELECT shops.shop_id,
    shops.name,
    shops.tier,
    shops.currency,
    shops.created_at,
    shops.customer_link,
    shops.deleting_since,
    shops.keep_months,
    shops.key_default_days,
    shops.key_max_days
   FROM public.shops
  WHERE (shops.shop_id = served.shop_id());

CREATE VIEW served.status_events AS
 SELECT status_events.shop_id,
    status_events.subscription_id,
    status_events."position",
    status_events.at,
    status_events.from_status,
    status_events.to_status
   FROM public.status_events
  WHERE (status_events.shop_id = served.shop_id());

CREATE VIEW served.subscriber_changes AS
 SELECT subscriber_changes.shop_id,
    subscriber_changes.customer_id,
    subscriber_changes.at,
    subscriber_changes.new_subscriber,
    subscriber_changes.subscriber,
    subscriber_changes.paused_subscriber,
    subscriber_changes.live,
    subscriber_changes.cancelled,
    subscriber_changes.cancelled_before,
    subscriber_changes.churned,
    subscriber_changes.expired,
    subscriber_changes.active,
    subscriber_changes.churned_failed,
    subscriber_changes.cohort,
    subscriber_changes.trial,
    subscriber_changes.trial_amount,
    subscriber_changes.paused_undated
   FROM public.subscriber_changes
  WHERE (subscriber_changes.shop_id = served.shop_id());

CREATE VIEW served.subscriber_facts AS
 SELECT subscriber_facts.shop_id,
    subscriber_facts.at,
    subscriber_facts.fact,
    subscriber_facts.count,
    subscriber_facts.amount
   FROM public.subscriber_facts
  WHERE (subscriber_facts.shop_id = served.shop_id());

CREATE VIEW served.subscription_lines AS
 SELECT subscription_lines.shop_id,
    subscription_lines.subscription_id,
    subscription_lines.line_id,
    subscription_lines."position",
    subscription_lines.product_id,
    subscription_lines.product_title,
    subscription_lines.variant_id,
    subscription_lines.variant_title,
    subscription_lines.quantity,
    subscription_lines.current_price,
    subscription_lines.interval_unit,
    subscription_lines.interval_count
   FROM public.subscription_lines
  WHERE (subscription_lines.shop_id = served.shop_id());

CREATE VIEW served.subscription_values AS
 SELECT subscription_values.shop_id,
    subscription_values.subscription_id,
    subscription_values.status,
    subscription_values.value
   FROM public.subscription_values
  WHERE (subscription_values.shop_id = served.shop_id());

CREATE VIEW served.subscriptions AS
 SELECT subscriptions.shop_id,
    subscriptions.subscription_id,
    subscriptions.customer_id,
    subscriptions.plan_id,
    subscriptions.status,
    subscriptions.status_since,
    subscriptions.current_price,
    subscriptions.own_interval_unit,
    subscriptions.own_interval_count,
    subscriptions.next_billing_at,
    subscriptions.paid_through_at,
    subscriptions.created_at,
    subscriptions.updated_at,
    subscriptions.digest,
    subscriptions.paid_periods,
    subscriptions.saved_at,
    subscriptions.trial_ends_at,
    subscriptions.other_intervals,
    subscriptions.past_values,
    subscriptions.feed
   FROM public.subscriptions
  WHERE (subscriptions.shop_id = served.shop_id());

CREATE VIEW served.superseded_facts AS
 SELECT superseded_facts.shop_id,
    superseded_facts.subscription_id,
    superseded_facts.fact,
    superseded_facts.cycle,
    superseded_facts.until,
    superseded_facts.since,
    superseded_facts.began_at,
    superseded_facts.left_as,
    superseded_facts.final,
    superseded_facts.reach
   FROM public.superseded_facts
  WHERE (superseded_facts.shop_id = served.shop_id());

CREATE TABLE shopify.data_requests (
    shop_id bigint NOT NULL,
    request_id uuid NOT NULL,
    customer_id bigint NOT NULL,
    received_at timestamp(3) with time zone NOT NULL
);

CREATE TABLE shopify.handled_events (
    event_id uuid NOT NULL,
    handled_at timestamp(3) with time zone NOT NULL
);

CREATE TABLE shopify.shops (
    shop_id bigint NOT NULL,
    domain text NOT NULL,
    uninstalled_at timestamp(3) with time zone,
    uninstalled_by uuid,
    reinstalled_at timestamp(3) with time zone
);

ALTER TABLE ONLY ingest.batches
    ADD CONSTRAINT batches_pkey PRIMARY KEY (shop_id, source_id, batch_id);

ALTER TABLE ONLY ingest.remembered_answers
    ADD CONSTRAINT remembered_answers_pkey PRIMARY KEY (shop_id, headings);

ALTER TABLE ONLY ingest.sources
    ADD CONSTRAINT sources_pkey PRIMARY KEY (shop_id, source_id);

ALTER TABLE ONLY ingest.sources
    ADD CONSTRAINT sources_source_id_key UNIQUE (source_id);

ALTER TABLE ONLY ingest.uploads
    ADD CONSTRAINT uploads_pkey PRIMARY KEY (shop_id);

ALTER TABLE ONLY owners.accounts
    ADD CONSTRAINT accounts_email_key UNIQUE (email);

ALTER TABLE ONLY owners.accounts
    ADD CONSTRAINT accounts_pkey PRIMARY KEY (owner_id);

ALTER TABLE ONLY owners.attempts
    ADD CONSTRAINT attempts_pkey PRIMARY KEY (attempt_id);

ALTER TABLE ONLY owners.challenges
    ADD CONSTRAINT challenges_pkey PRIMARY KEY (token_hash);

ALTER TABLE ONLY owners.devices
    ADD CONSTRAINT devices_pkey PRIMARY KEY (token_hash, owner_id);

ALTER TABLE ONLY owners.events
    ADD CONSTRAINT events_pkey PRIMARY KEY (shop_id, at, kind, detail);

ALTER TABLE ONLY owners.factors
    ADD CONSTRAINT factors_credential_id_key UNIQUE (credential_id);

ALTER TABLE ONLY owners.factors
    ADD CONSTRAINT factors_pkey PRIMARY KEY (factor_id);

ALTER TABLE ONLY owners.links
    ADD CONSTRAINT links_pkey PRIMARY KEY (token_hash);

ALTER TABLE ONLY owners.memberships
    ADD CONSTRAINT memberships_pkey PRIMARY KEY (owner_id, shop_id);

ALTER TABLE ONLY owners.notifications
    ADD CONSTRAINT notifications_pkey PRIMARY KEY (owner_id, shop_id);

ALTER TABLE ONLY owners.notifications
    ADD CONSTRAINT notifications_unsubscribe_secret_key UNIQUE (unsubscribe_secret);

ALTER TABLE ONLY owners.recovery_codes
    ADD CONSTRAINT recovery_codes_pkey PRIMARY KEY (owner_id, code_hash);

ALTER TABLE ONLY owners.segments
    ADD CONSTRAINT segments_pkey PRIMARY KEY (shop_id, name);

ALTER TABLE ONLY owners.service_address
    ADD CONSTRAINT service_address_pkey PRIMARY KEY (is_only);

ALTER TABLE ONLY owners.sessions
    ADD CONSTRAINT sessions_pkey PRIMARY KEY (token_hash);

ALTER TABLE ONLY owners.shop_policies
    ADD CONSTRAINT shop_policies_pkey PRIMARY KEY (shop_id);

ALTER TABLE ONLY owners.sso_providers
    ADD CONSTRAINT sso_providers_pkey PRIMARY KEY (shop_id);

ALTER TABLE ONLY platforms.connections
    ADD CONSTRAINT connections_pkey PRIMARY KEY (shop_id, platform);

ALTER TABLE ONLY platforms.streams
    ADD CONSTRAINT streams_pkey PRIMARY KEY (shop_id, platform, stream);

ALTER TABLE ONLY platforms.syncs
    ADD CONSTRAINT syncs_pkey PRIMARY KEY (shop_id, platform);

ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_pkey PRIMARY KEY (shop_id, key_id);

ALTER TABLE ONLY public.audit_entries
    ADD CONSTRAINT audit_entries_pkey PRIMARY KEY (shop_id, number);

ALTER TABLE ONLY public.audit_heads
    ADD CONSTRAINT audit_heads_pkey PRIMARY KEY (shop_id);

ALTER TABLE ONLY public.cancellation_sessions
    ADD CONSTRAINT cancellation_sessions_pkey PRIMARY KEY (shop_id, session_id);

ALTER TABLE ONLY public.contacted_cases
    ADD CONSTRAINT contacted_cases_pkey PRIMARY KEY (shop_id, subscription_id, opened_at);

ALTER TABLE ONLY public.customer_keys
    ADD CONSTRAINT customer_keys_pkey PRIMARY KEY (shop_id);

ALTER TABLE ONLY public.customer_values
    ADD CONSTRAINT customer_values_pkey PRIMARY KEY (shop_id, customer_id);

ALTER TABLE ONLY public.customers
    ADD CONSTRAINT customers_pkey PRIMARY KEY (shop_id, customer_id);

ALTER TABLE ONLY public.departures
    ADD CONSTRAINT departures_pkey PRIMARY KEY (shop_id, subscription_id);

ALTER TABLE ONLY public.dunning_cases
    ADD CONSTRAINT dunning_cases_pkey PRIMARY KEY (shop_id, subscription_id, "position");

ALTER TABLE ONLY public.export_dates
    ADD CONSTRAINT export_dates_pkey PRIMARY KEY (shop_id, kind, id);

ALTER TABLE ONLY public.failed_cycles
    ADD CONSTRAINT failed_cycles_pkey PRIMARY KEY (shop_id, subscription_id, cycle, failed_at);

ALTER TABLE ONLY public.feeds
    ADD CONSTRAINT feeds_pkey PRIMARY KEY (shop_id, feed);

ALTER TABLE ONLY public.key_generation
    ADD CONSTRAINT key_generation_pkey PRIMARY KEY (is_only);

ALTER TABLE ONLY public.key_uses
    ADD CONSTRAINT key_uses_pkey PRIMARY KEY (shop_id, key_id);

ALTER TABLE ONLY public.metric_ledger
    ADD CONSTRAINT metric_ledger_pkey PRIMARY KEY (shop_id, grain, bucket, fact);

ALTER TABLE ONLY public.metric_shops
    ADD CONSTRAINT metric_shops_pkey PRIMARY KEY (shop_id);

ALTER TABLE ONLY public.payments
    ADD CONSTRAINT payments_pkey PRIMARY KEY (shop_id, payment_id);

ALTER TABLE ONLY public.plans
    ADD CONSTRAINT plans_pkey PRIMARY KEY (shop_id, plan_id);

ALTER TABLE ONLY public.price_changes
    ADD CONSTRAINT price_changes_pkey PRIMARY KEY (shop_id, subscription_id, at);

ALTER TABLE ONLY public.redacted_customers
    ADD CONSTRAINT redacted_customers_pkey PRIMARY KEY (shop_id, customer_hash);

ALTER TABLE ONLY public.refunds
    ADD CONSTRAINT refunds_pkey PRIMARY KEY (shop_id, refund_id);

ALTER TABLE ONLY public.request_batches
    ADD CONSTRAINT request_batches_pkey PRIMARY KEY (shop_id, last_at, batch_id);

ALTER TABLE ONLY public.request_counts
    ADD CONSTRAINT request_counts_pkey PRIMARY KEY (shop_id, key_id, hour, operation, status);

ALTER TABLE ONLY public.request_log
    ADD CONSTRAINT request_log_pkey PRIMARY KEY (shop_id, at, request_id);

ALTER TABLE ONLY public.schema_migrations
    ADD CONSTRAINT schema_migrations_pkey PRIMARY KEY (version);

ALTER TABLE ONLY public.shopify_syncs
    ADD CONSTRAINT shopify_syncs_pkey PRIMARY KEY (shop_id);

ALTER TABLE ONLY public.shops
    ADD CONSTRAINT shops_pkey PRIMARY KEY (shop_id);

ALTER TABLE ONLY public.snapshot_dates
    ADD CONSTRAINT snapshot_dates_pkey PRIMARY KEY (shop_id, kind);

ALTER TABLE ONLY public.source_ids
    ADD CONSTRAINT source_ids_pkey PRIMARY KEY (shop_id, kind, id);

ALTER TABLE ONLY public.status_events
    ADD CONSTRAINT status_events_pkey PRIMARY KEY (shop_id, subscription_id, "position");

ALTER TABLE ONLY public.subscriber_changes
    ADD CONSTRAINT subscriber_changes_pkey PRIMARY KEY (shop_id, customer_id, at);

ALTER TABLE ONLY public.subscription_lines
    ADD CONSTRAINT subscription_lines_pkey PRIMARY KEY (shop_id, subscription_id, line_id);

ALTER TABLE ONLY public.subscription_values
    ADD CONSTRAINT subscription_values_pkey PRIMARY KEY (shop_id, subscription_id);

ALTER TABLE ONLY public.subscriptions
    ADD CONSTRAINT subscriptions_pkey PRIMARY KEY (shop_id, subscription_id);

ALTER TABLE ONLY public.superseded_facts
    ADD CONSTRAINT superseded_facts_pkey PRIMARY KEY (shop_id, subscription_id, fact, cycle, until);

ALTER TABLE ONLY shopify.data_requests
    ADD CONSTRAINT data_requests_pkey PRIMARY KEY (shop_id, request_id);

ALTER TABLE ONLY shopify.handled_events
    ADD CONSTRAINT handled_events_pkey PRIMARY KEY (event_id);

ALTER TABLE ONLY shopify.shops
    ADD CONSTRAINT shops_domain_key UNIQUE (domain);

ALTER TABLE ONLY shopify.shops
    ADD CONSTRAINT shops_pkey PRIMARY KEY (shop_id);

CREATE INDEX batches_finished ON ingest.batches USING btree (shop_id, source_id, finished_at) WHERE (finished_at IS NOT NULL);

CREATE INDEX batches_refused ON ingest.batches USING btree (shop_id, source_id, received_at) WHERE (refused_count > 0);

CREATE INDEX batches_unfinished ON ingest.batches USING btree (shop_id, source_id, "position") WHERE (finished_at IS NULL);

CREATE INDEX attempts_by_account ON owners.attempts USING btree (account, at);

CREATE INDEX attempts_by_address ON owners.attempts USING btree (address, at);

CREATE INDEX attempts_by_time ON owners.attempts USING btree (at);

CREATE INDEX challenges_by_owner ON owners.challenges USING btree (owner_id);

CREATE INDEX challenges_by_time ON owners.challenges USING btree (expires_at);

CREATE INDEX devices_by_owner ON owners.devices USING btree (owner_id);

CREATE INDEX factors_by_owner ON owners.factors USING btree (owner_id, created_at);

CREATE INDEX links_by_owner ON owners.links USING btree (owner_id);

CREATE INDEX links_by_shop ON owners.links USING btree (shop_id);

CREATE INDEX memberships_by_shop ON owners.memberships USING btree (shop_id, owner_id);

CREATE INDEX sessions_by_owner ON owners.sessions USING btree (owner_id);

CREATE UNIQUE INDEX sso_providers_by_domain ON owners.sso_providers USING btree (domain) WHERE (verified_at IS NOT NULL);

CREATE UNIQUE INDEX connections_account_platform_key ON platforms.connections USING btree (account, platform) WHERE (NOT is_shared);

CREATE INDEX api_keys_by_hash ON public.api_keys USING btree (hash);

CREATE INDEX audit_entries_by_time ON public.audit_entries USING btree (shop_id, at, number);

CREATE INDEX cancellation_sessions_by_creation ON public.cancellation_sessions USING btree (shop_id, created_at, session_id) INCLUDE (detected_reason, offer_type, outcome);

CREATE INDEX cancellation_sessions_by_outcome ON public.cancellation_sessions USING btree (shop_id, outcome, created_at, session_id);

CREATE INDEX cancellation_sessions_by_subscription ON public.cancellation_sessions USING btree (shop_id, subscription_id) WHERE (subscription_id IS NOT NULL);

CREATE INDEX customer_values_by_beginning ON public.customer_values USING btree (shop_id, since, customer_id);

CREATE INDEX customer_values_by_value ON public.customer_values USING btree (shop_id, value, customer_id);

CREATE INDEX departures_by_age ON public.departures USING btree (shop_id, public.metric_day(left_at), age_days, left_at, subscription_id);

CREATE INDEX departures_by_time ON public.departures USING btree (shop_id, left_at, subscription_id) INCLUDE (plan_id, cause, age_days, value);

CREATE INDEX departures_by_value ON public.departures USING btree (shop_id, public.metric_day(left_at), value, left_at, subscription_id);

CREATE INDEX dunning_cases_by_amount ON public.dunning_cases USING btree (shop_id, amount, opened_at, subscription_id, "position") WHERE (closed_at IS NULL);

CREATE INDEX dunning_cases_by_opening ON public.dunning_cases USING btree (shop_id, opened_at);

CREATE INDEX dunning_cases_by_time ON public.dunning_cases USING btree (shop_id, closed_at, opened_at, subscription_id, "position") INCLUDE (result, amount, failure_code, attempts);

CREATE INDEX failed_cycles_by_time ON public.failed_cycles USING btree (shop_id, failed_at) INCLUDE (is_last);

CREATE INDEX payments_by_subscription ON public.payments USING btree (shop_id, subscription_id, processed_at);

CREATE INDEX payments_failed ON public.payments USING btree (shop_id, subscription_id, cycle, processed_at) WHERE ((status = 'failed'::text) AND (failure_kind IS DISTINCT FROM 'inventory'::text));

CREATE INDEX payments_paid ON public.payments USING btree (shop_id, processed_at) INCLUDE (amount) WHERE (status = 'succeeded'::text);

CREATE INDEX price_changes_by_time ON public.price_changes USING btree (shop_id, at, subscription_id) INCLUDE (plan_id, was, became, left_at, lost);

CREATE INDEX refunds_by_payment ON public.refunds USING btree (shop_id, payment_id);

CREATE INDEX refunds_by_time ON public.refunds USING btree (shop_id, refunded_at);

CREATE INDEX status_events_by_time ON public.status_events USING btree (shop_id, at) INCLUDE (subscription_id, from_status, to_status);

CREATE INDEX subscriber_changes_by_time ON public.subscriber_changes USING btree (shop_id, at);

CREATE INDEX subscription_lines_by_product ON public.subscription_lines USING btree (shop_id, product_id);

CREATE INDEX subscription_values_by_value ON public.subscription_values USING btree (shop_id, status, value, subscription_id);

CREATE INDEX subscriptions_by_change ON public.subscriptions USING btree (shop_id, status_since) INCLUDE (subscription_id, created_at, status, plan_id, own_interval_unit, own_interval_count, current_price, trial_ends_at, feed);

CREATE INDEX subscriptions_by_creation ON public.subscriptions USING btree (shop_id, created_at, subscription_id);

CREATE INDEX subscriptions_by_customer ON public.subscriptions USING btree (shop_id, customer_id, subscription_id);

CREATE INDEX subscriptions_by_plan ON public.subscriptions USING btree (shop_id, plan_id);

CREATE INDEX subscriptions_by_status ON public.subscriptions USING btree (shop_id, status, created_at, subscription_id) INCLUDE (status_since, plan_id, own_interval_unit, own_interval_count, current_price, trial_ends_at, feed);

CREATE INDEX subscriptions_by_trial_end ON public.subscriptions USING btree (shop_id, trial_ends_at) WHERE (trial_ends_at IS NOT NULL);

CREATE INDEX subscriptions_mixed ON public.subscriptions USING btree (shop_id, current_price) WHERE (other_intervals IS NOT NULL);

CREATE INDEX subscriptions_renewing ON public.subscriptions USING btree (shop_id, next_billing_at) INCLUDE (current_price) WHERE (status = 'active'::text);

CREATE INDEX subscriptions_revalued ON public.subscriptions USING btree (shop_id, public.last_value_change(past_values)) WHERE (past_values IS NOT NULL);

CREATE INDEX subscriptions_saved ON public.subscriptions USING btree (shop_id, saved_at) INCLUDE (plan_id, own_interval_unit, own_interval_count, current_price) WHERE ((status = 'active'::text) AND (saved_at IS NOT NULL));

CREATE INDEX subscriptions_saved_otherwise ON public.subscriptions USING btree (shop_id, saved_at) WHERE ((status = 'active'::text) AND (saved_at IS NOT NULL) AND ((other_intervals IS NOT NULL) OR (trial_ends_at IS NOT NULL)));

CREATE INDEX subscriptions_undated ON public.subscriptions USING btree (shop_id) WHERE (status_since IS NULL);

CREATE INDEX superseded_facts_by_reach ON public.superseded_facts USING btree (shop_id, reach, until) INCLUDE (since, subscription_id, fact, cycle, began_at, left_as, final);

CREATE TRIGGER hold_shop BEFORE INSERT OR DELETE OR UPDATE ON ingest.batches FOR EACH ROW EXECUTE FUNCTION public.hold_shop();

CREATE TRIGGER hold_shop BEFORE INSERT OR DELETE OR UPDATE ON ingest.remembered_answers FOR EACH ROW EXECUTE FUNCTION public.hold_shop();

CREATE TRIGGER hold_shop BEFORE INSERT OR DELETE OR UPDATE ON ingest.sources FOR EACH ROW EXECUTE FUNCTION public.hold_shop();

CREATE TRIGGER hold_shop BEFORE INSERT OR DELETE OR UPDATE ON ingest.uploads FOR EACH ROW EXECUTE FUNCTION public.hold_shop();

CREATE TRIGGER enter_in_audit_log INSTEAD OF INSERT OR DELETE ON owners.log FOR EACH ROW EXECUTE FUNCTION owners.enter_in_audit_log();

CREATE TRIGGER hold_shop BEFORE INSERT OR DELETE OR UPDATE ON owners.events FOR EACH ROW EXECUTE FUNCTION public.hold_shop();

CREATE TRIGGER hold_shop BEFORE INSERT OR DELETE OR UPDATE ON owners.links FOR EACH ROW EXECUTE FUNCTION public.hold_shop();

CREATE TRIGGER hold_shop BEFORE INSERT OR DELETE OR UPDATE ON owners.memberships FOR EACH ROW EXECUTE FUNCTION public.hold_shop();

CREATE TRIGGER hold_shop BEFORE INSERT OR DELETE OR UPDATE ON owners.notifications FOR EACH ROW EXECUTE FUNCTION public.hold_shop();

CREATE TRIGGER hold_shop BEFORE INSERT OR DELETE OR UPDATE ON owners.segments FOR EACH ROW EXECUTE FUNCTION public.hold_shop();

CREATE TRIGGER hold_shop BEFORE INSERT OR DELETE OR UPDATE ON owners.shop_policies FOR EACH ROW EXECUTE FUNCTION public.hold_shop();

CREATE TRIGGER hold_shop BEFORE INSERT OR DELETE OR UPDATE ON owners.sso_providers FOR EACH ROW EXECUTE FUNCTION public.hold_shop();

CREATE TRIGGER hold_shop BEFORE INSERT OR DELETE OR UPDATE ON platforms.connections FOR EACH ROW EXECUTE FUNCTION public.hold_shop();

CREATE TRIGGER hold_shop BEFORE INSERT OR DELETE OR UPDATE ON platforms.streams FOR EACH ROW EXECUTE FUNCTION public.hold_shop();

CREATE TRIGGER hold_shop BEFORE INSERT OR DELETE OR UPDATE ON platforms.syncs FOR EACH ROW EXECUTE FUNCTION public.hold_shop();

CREATE TRIGGER audit_append_only BEFORE DELETE OR UPDATE ON public.audit_entries FOR EACH STATEMENT EXECUTE FUNCTION public.refuse_audit_change();

CREATE TRIGGER audit_no_truncate BEFORE TRUNCATE ON public.audit_entries FOR EACH STATEMENT EXECUTE FUNCTION public.refuse_audit_change();

CREATE TRIGGER departures_delete AFTER DELETE ON public.status_events REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION public.status_events_departures_delete();

CREATE TRIGGER departures_insert AFTER INSERT ON public.status_events REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION public.status_events_departures_insert();

CREATE TRIGGER departures_update AFTER UPDATE ON public.status_events REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION public.status_events_departures_update();

CREATE TRIGGER departures_update AFTER UPDATE ON public.subscriptions REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION public.subscriptions_departures_update();

CREATE TRIGGER hold_shop BEFORE INSERT OR DELETE OR UPDATE ON public.audit_entries FOR EACH ROW EXECUTE FUNCTION public.hold_shop();

CREATE TRIGGER hold_shop BEFORE INSERT OR DELETE OR UPDATE ON public.audit_heads FOR EACH ROW EXECUTE FUNCTION public.hold_shop();

CREATE TRIGGER hold_shop BEFORE INSERT OR DELETE OR UPDATE ON public.contacted_cases FOR EACH ROW EXECUTE FUNCTION public.hold_shop();

CREATE TRIGGER hold_shop BEFORE INSERT OR DELETE OR UPDATE ON public.customer_keys FOR EACH ROW EXECUTE FUNCTION public.hold_shop();

CREATE TRIGGER hold_shop BEFORE INSERT OR DELETE OR UPDATE ON public.feeds FOR EACH ROW EXECUTE FUNCTION public.hold_shop();

CREATE TRIGGER hold_shop BEFORE INSERT OR DELETE OR UPDATE ON public.shopify_syncs FOR EACH ROW EXECUTE FUNCTION public.hold_shop();

CREATE CONSTRAINT TRIGGER key_generation AFTER INSERT OR DELETE OR UPDATE OF shop_id, key_id, hash, scopes, expires_at, revoked_at, networks ON public.api_keys DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION public.note_key_change();

CREATE CONSTRAINT TRIGGER key_generation AFTER DELETE OR UPDATE OF tier, currency ON public.shops DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION public.note_key_change();

CREATE TRIGGER key_generation_truncate AFTER TRUNCATE ON public.api_keys FOR EACH STATEMENT EXECUTE FUNCTION public.note_key_change();

CREATE TRIGGER metrics_delete AFTER DELETE ON public.cancellation_sessions REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION public.cancellation_sessions_metrics_delete();

CREATE TRIGGER metrics_delete AFTER DELETE ON public.dunning_cases REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION public.dunning_cases_metrics_delete();

CREATE TRIGGER metrics_delete AFTER DELETE ON public.failed_cycles REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION public.failed_cycles_metrics_delete();

CREATE TRIGGER metrics_delete AFTER DELETE ON public.payments REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION public.payments_metrics_delete();

CREATE TRIGGER metrics_delete AFTER DELETE ON public.plans REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION public.plans_metrics_delete();

CREATE TRIGGER metrics_delete AFTER DELETE ON public.price_changes REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION public.price_changes_metrics_delete();

CREATE TRIGGER metrics_delete AFTER DELETE ON public.refunds REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION public.refunds_metrics_delete();

CREATE TRIGGER metrics_delete AFTER DELETE ON public.status_events REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION public.status_events_metrics_delete();

CREATE TRIGGER metrics_delete AFTER DELETE ON public.subscriber_changes REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION public.subscriber_changes_metrics_delete();

CREATE TRIGGER metrics_delete AFTER DELETE ON public.subscriptions REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION public.subscriptions_metrics_delete();

CREATE TRIGGER metrics_insert AFTER INSERT ON public.cancellation_sessions REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION public.cancellation_sessions_metrics_insert();

CREATE TRIGGER metrics_insert AFTER INSERT ON public.dunning_cases REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION public.dunning_cases_metrics_insert();

CREATE TRIGGER metrics_insert AFTER INSERT ON public.failed_cycles REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION public.failed_cycles_metrics_insert();

CREATE TRIGGER metrics_insert AFTER INSERT ON public.payments REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION public.payments_metrics_insert();

CREATE TRIGGER metrics_insert AFTER INSERT ON public.plans REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION public.plans_metrics_insert();

CREATE TRIGGER metrics_insert AFTER INSERT ON public.price_changes REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION public.price_changes_metrics_insert();

CREATE TRIGGER metrics_insert AFTER INSERT ON public.refunds REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION public.refunds_metrics_insert();

CREATE TRIGGER metrics_insert AFTER INSERT ON public.status_events REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION public.status_events_metrics_insert();

CREATE TRIGGER metrics_insert AFTER INSERT ON public.subscriber_changes REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION public.subscriber_changes_metrics_insert();

CREATE TRIGGER metrics_insert AFTER INSERT ON public.subscriptions REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION public.subscriptions_metrics_insert();

CREATE TRIGGER metrics_truncate AFTER TRUNCATE ON public.cancellation_sessions FOR EACH STATEMENT EXECUTE FUNCTION public.rebuild_all_metrics();

CREATE TRIGGER metrics_truncate AFTER TRUNCATE ON public.dunning_cases FOR EACH STATEMENT EXECUTE FUNCTION public.rebuild_all_metrics();

CREATE TRIGGER metrics_truncate AFTER TRUNCATE ON public.failed_cycles FOR EACH STATEMENT EXECUTE FUNCTION public.rebuild_all_metrics();

CREATE TRIGGER metrics_truncate AFTER TRUNCATE ON public.payments FOR EACH STATEMENT EXECUTE FUNCTION public.rebuild_all_metrics();

CREATE TRIGGER metrics_truncate AFTER TRUNCATE ON public.price_changes FOR EACH STATEMENT EXECUTE FUNCTION public.rebuild_all_metrics();

CREATE TRIGGER metrics_truncate AFTER TRUNCATE ON public.refunds FOR EACH STATEMENT EXECUTE FUNCTION public.rebuild_all_metrics();

CREATE TRIGGER metrics_truncate AFTER TRUNCATE ON public.status_events FOR EACH STATEMENT EXECUTE FUNCTION public.rebuild_all_metrics();

CREATE TRIGGER metrics_truncate AFTER TRUNCATE ON public.subscriber_changes FOR EACH STATEMENT EXECUTE FUNCTION public.rebuild_all_metrics();

CREATE TRIGGER metrics_truncate AFTER TRUNCATE ON public.subscriptions FOR EACH STATEMENT EXECUTE FUNCTION public.rebuild_all_metrics();

CREATE TRIGGER metrics_update AFTER UPDATE ON public.cancellation_sessions REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION public.cancellation_sessions_metrics_update();

CREATE TRIGGER metrics_update AFTER UPDATE ON public.dunning_cases REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION public.dunning_cases_metrics_update();

CREATE TRIGGER metrics_update AFTER UPDATE ON public.failed_cycles REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION public.failed_cycles_metrics_update();

CREATE TRIGGER metrics_update AFTER UPDATE ON public.payments REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION public.payments_metrics_update();

CREATE TRIGGER metrics_update AFTER UPDATE ON public.plans REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION public.plans_metrics_update();

CREATE TRIGGER metrics_update AFTER UPDATE ON public.price_changes REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION public.price_changes_metrics_update();

CREATE TRIGGER metrics_update AFTER UPDATE ON public.refunds REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION public.refunds_metrics_update();

CREATE TRIGGER metrics_update AFTER UPDATE ON public.status_events REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION public.status_events_metrics_update();

CREATE TRIGGER metrics_update AFTER UPDATE ON public.subscriber_changes REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION public.subscriber_changes_metrics_update();

CREATE TRIGGER metrics_update AFTER UPDATE ON public.subscriptions REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION public.subscriptions_metrics_update();

CREATE TRIGGER source_ids AFTER DELETE ON public.cancellation_sessions REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION public.delete_source_ids('cancellation', 'session_id');

CREATE TRIGGER source_ids AFTER DELETE ON public.customers REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION public.delete_source_ids('customer', 'customer_id');

CREATE TRIGGER source_ids AFTER DELETE ON public.payments REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION public.delete_source_ids('payment', 'payment_id');

CREATE TRIGGER source_ids AFTER DELETE ON public.plans REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION public.delete_source_ids('plan', 'plan_id');

CREATE TRIGGER source_ids AFTER DELETE ON public.refunds REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION public.delete_source_ids('refund', 'refund_id');

CREATE TRIGGER source_ids AFTER DELETE ON public.subscriptions REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION public.delete_source_ids('subscription', 'subscription_id');

CREATE TRIGGER hold_shop BEFORE INSERT OR DELETE OR UPDATE ON shopify.data_requests FOR EACH ROW EXECUTE FUNCTION public.hold_shop();

CREATE TRIGGER hold_shop BEFORE INSERT OR DELETE OR UPDATE ON shopify.shops FOR EACH ROW EXECUTE FUNCTION public.hold_shop();

ALTER TABLE ONLY owners.challenges
    ADD CONSTRAINT challenges_owner_id_fkey FOREIGN KEY (owner_id) REFERENCES owners.accounts(owner_id) ON DELETE CASCADE;

ALTER TABLE ONLY owners.devices
    ADD CONSTRAINT devices_owner_id_fkey FOREIGN KEY (owner_id) REFERENCES owners.accounts(owner_id) ON DELETE CASCADE;

ALTER TABLE ONLY owners.factors
    ADD CONSTRAINT factors_owner_id_fkey FOREIGN KEY (owner_id) REFERENCES owners.accounts(owner_id) ON DELETE CASCADE;

ALTER TABLE ONLY owners.links
    ADD CONSTRAINT links_owner_id_fkey FOREIGN KEY (owner_id) REFERENCES owners.accounts(owner_id) ON DELETE CASCADE;

ALTER TABLE ONLY owners.memberships
    ADD CONSTRAINT memberships_owner_id_fkey FOREIGN KEY (owner_id) REFERENCES owners.accounts(owner_id) ON DELETE CASCADE;

ALTER TABLE ONLY owners.notifications
    ADD CONSTRAINT notifications_owner_id_shop_id_fkey FOREIGN KEY (owner_id, shop_id) REFERENCES owners.memberships(owner_id, shop_id) ON DELETE CASCADE;

ALTER TABLE ONLY owners.recovery_codes
    ADD CONSTRAINT recovery_codes_owner_id_fkey FOREIGN KEY (owner_id) REFERENCES owners.accounts(owner_id) ON DELETE CASCADE;

ALTER TABLE ONLY owners.sessions
    ADD CONSTRAINT sessions_owner_id_fkey FOREIGN KEY (owner_id) REFERENCES owners.accounts(owner_id) ON DELETE CASCADE;

ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_shop_id_fkey FOREIGN KEY (shop_id) REFERENCES public.shops(shop_id);

ALTER TABLE ONLY public.cancellation_sessions
    ADD CONSTRAINT cancellation_sessions_shop_id_fkey FOREIGN KEY (shop_id) REFERENCES public.shops(shop_id);

ALTER TABLE ONLY public.customer_keys
    ADD CONSTRAINT customer_keys_shop_id_fkey FOREIGN KEY (shop_id) REFERENCES public.shops(shop_id);

ALTER TABLE ONLY public.customers
    ADD CONSTRAINT customers_shop_id_fkey FOREIGN KEY (shop_id) REFERENCES public.shops(shop_id);

ALTER TABLE ONLY public.dunning_cases
    ADD CONSTRAINT dunning_cases_shop_id_subscription_id_fkey FOREIGN KEY (shop_id, subscription_id) REFERENCES public.subscriptions(shop_id, subscription_id) ON DELETE CASCADE;

ALTER TABLE ONLY public.feeds
    ADD CONSTRAINT feeds_shop_id_fkey FOREIGN KEY (shop_id) REFERENCES public.shops(shop_id);

ALTER TABLE ONLY public.key_uses
    ADD CONSTRAINT key_uses_shop_id_key_id_fkey FOREIGN KEY (shop_id, key_id) REFERENCES public.api_keys(shop_id, key_id) ON DELETE CASCADE;

ALTER TABLE ONLY public.metric_shops
    ADD CONSTRAINT metric_shops_shop_id_fkey FOREIGN KEY (shop_id) REFERENCES public.shops(shop_id) ON DELETE CASCADE;

ALTER TABLE ONLY public.payments
    ADD CONSTRAINT payments_shop_id_subscription_id_fkey FOREIGN KEY (shop_id, subscription_id) REFERENCES public.subscriptions(shop_id, subscription_id) ON DELETE CASCADE;

ALTER TABLE ONLY public.plans
    ADD CONSTRAINT plans_shop_id_fkey FOREIGN KEY (shop_id) REFERENCES public.shops(shop_id);

ALTER TABLE ONLY public.redacted_customers
    ADD CONSTRAINT redacted_customers_shop_id_fkey FOREIGN KEY (shop_id) REFERENCES public.shops(shop_id);

ALTER TABLE ONLY public.refunds
    ADD CONSTRAINT refunds_shop_id_payment_id_fkey FOREIGN KEY (shop_id, payment_id) REFERENCES public.payments(shop_id, payment_id) ON DELETE CASCADE;

ALTER TABLE ONLY public.request_batches
    ADD CONSTRAINT request_batches_shop_id_fkey FOREIGN KEY (shop_id) REFERENCES public.shops(shop_id) ON DELETE CASCADE;

ALTER TABLE ONLY public.request_counts
    ADD CONSTRAINT request_counts_shop_id_key_id_fkey FOREIGN KEY (shop_id, key_id) REFERENCES public.api_keys(shop_id, key_id) ON DELETE CASCADE;

ALTER TABLE ONLY public.request_log
    ADD CONSTRAINT request_log_shop_id_key_id_fkey FOREIGN KEY (shop_id, key_id) REFERENCES public.api_keys(shop_id, key_id) ON DELETE CASCADE;

ALTER TABLE ONLY public.shopify_syncs
    ADD CONSTRAINT shopify_syncs_shop_id_fkey FOREIGN KEY (shop_id) REFERENCES public.shops(shop_id);

ALTER TABLE ONLY public.source_ids
    ADD CONSTRAINT source_ids_shop_id_fkey FOREIGN KEY (shop_id) REFERENCES public.shops(shop_id);

ALTER TABLE ONLY public.status_events
    ADD CONSTRAINT status_events_shop_id_subscription_id_fkey FOREIGN KEY (shop_id, subscription_id) REFERENCES public.subscriptions(shop_id, subscription_id) ON DELETE CASCADE;

ALTER TABLE ONLY public.subscription_lines
    ADD CONSTRAINT subscription_lines_shop_id_subscription_id_fkey FOREIGN KEY (shop_id, subscription_id) REFERENCES public.subscriptions(shop_id, subscription_id) ON DELETE CASCADE;

ALTER TABLE ONLY public.subscriptions
    ADD CONSTRAINT subscriptions_shop_id_customer_id_fkey FOREIGN KEY (shop_id, customer_id) REFERENCES public.customers(shop_id, customer_id);

ALTER TABLE ONLY public.subscriptions
    ADD CONSTRAINT subscriptions_shop_id_plan_id_fkey FOREIGN KEY (shop_id, plan_id) REFERENCES public.plans(shop_id, plan_id);
