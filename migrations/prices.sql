-- What a subscription costs, whose lines may be billed at intervals of their own (subscriptions.other_intervals).

-- The price of a subscription without its lines that are billed at other intervals than this one. Without such lines it
-- costs nothing, because then it becomes part of the statement.
create or replace function price_apart(price numeric, other_intervals jsonb, billed text) returns numeric
language sql immutable as $$
  select price - coalesce(sum(value::numeric), 0) from jsonb_each_text(other_intervals) where key <> billed
$$;

create or replace function price_at(price numeric, other_intervals jsonb, billed text) returns numeric
language sql immutable as $$
  select case when other_intervals is null then price else price_apart(price, other_intervals, billed) end
$$;

-- What a subscription costs by billing interval (`month 1`): its own, which counts it, and those of its lines.
-- `amounts` say it for a time in the past, where '' is the interval of the plan.
create or replace function prices_by_interval(
  price numeric, other_intervals jsonb, billed text, amounts jsonb, billed_by_plan text
)
returns table (billed_at text, price_then numeric, subscriptions integer) language sql immutable as $$
  select $3, case when $4 is null then price_at($1, $2, '') else 0 end, 1
  union all
  select coalesce(nullif(key, ''), $5), value::numeric, 0 from jsonb_each_text(coalesce($4, $2))
$$;

create or replace function prices_by_interval(price numeric, other_intervals jsonb, billed text)
returns table (billed_at text, price_then numeric, subscriptions integer) language sql immutable as $$
  select * from prices_by_interval($1, $2, $3, null, null)
$$;

-- An interval of past_values, where that of a plan that was left has that plan's id (`month 1 7`), without it.
create or replace function without_plan(billed text) returns text language sql immutable as $$
  select substring(billed from '^(?:\w+ \d+)?')
$$;

-- The amounts of past_values without ids of plans.
create or replace function amounts_without_plans(amounts jsonb) returns jsonb language sql immutable as $$
  select jsonb_object_agg(billed, amount) from (
    select without_plan(key) as billed, trim_scale(sum(value::numeric))::text as amount
    from jsonb_each_text(amounts) group by 1
  ) a
$$;

-- What a subscription was worth, from which times on, of its past_values; from the beginning, what it was worth first. Of
-- several values at one instant, only the last one held.
create or replace function values_of(past_values jsonb)
returns table (since timestamptz, until timestamptz, amounts jsonb) language sql immutable as $$
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

-- When what it is worth changed last; null if it never did. An index has it, so it must call no other function of the
-- schema.
create or replace function last_value_change(past_values jsonb) returns timestamptz language sql immutable as $$
  select case when count(*) > 1 then max(timestamptz 'epoch' + (seen ->> 0)::bigint * interval '1 millisecond') end
  from jsonb_array_elements(past_values) seen where jsonb_typeof(seen -> 1) = 'object'
$$;

-- An instant as the next function takes it.
create or replace function seen_at(at timestamptz) returns jsonb language sql stable as $$
  select jsonb_build_object('at', floor(extract(epoch from at) * 1000))
$$;

-- What it was worth at an instant, with ids of plans; null if it is worth what it was then as far as is known. One
-- expression, which becomes part of the statement.
create or replace function amounts_seen(past_values jsonb, seen_at jsonb) returns jsonb language sql immutable as $$
  select coalesce(
    jsonb_path_query_array(past_values, 'strict $[*] ? (@[1].type() == "object" && @[0] <= $at)[1]', seen_at) -> -1,
    jsonb_path_query_first(past_values, 'strict $[*] ? (@[1].type() == "object")[1]')
  )
$$;

-- What it was worth at an instant; null if it is worth what it was then as far as is known.
create or replace function amounts_at(past_values jsonb, at timestamptz) returns jsonb language sql immutable as $$
  select case when seen.amounts::text ~ ' \d+ \d+"' then amounts_without_plans(seen.amounts) else seen.amounts end
  from (select amounts_seen(past_values, seen_at(at)) as amounts) seen
$$;

-- The same just before the instant.
create or replace function amounts_before(past_values jsonb, at timestamptz) returns jsonb language sql immutable as $$
  select amounts from values_of(past_values) where since < at and until >= at
$$;

-- A price in the form of amounts.
create or replace function amounts_of(price numeric, other_intervals jsonb) returns jsonb language sql immutable as $$
  select jsonb_build_object('', price_at(price, other_intervals, '')) || coalesce(other_intervals, '{}')
$$;

-- What of a price counts for a month, to 40 decimals. One expression, which PostgreSQL puts in the place of a call.
create or replace function monthly_amount(amount numeric, billed text) returns numeric language sql immutable as $$
  select round(amount, 40) * case when split_part(billed, ' ', 1) in ('day', 'week') then 365 else 1 end
    / (split_part(billed, ' ', 2)::integer
      * case split_part(billed, ' ', 1) when 'week' then 84 when 'month' then 1 else 12 end)
$$;

-- What amounts come to a month. '' is `billed`.
create or replace function worth_of(amounts jsonb, billed text) returns numeric language sql immutable as $$
  select coalesce(sum(monthly_amount(value::numeric, coalesce(nullif(key, ''), billed))), 0)
  from jsonb_each_text(amounts)
$$;

-- What a subscription with prices of other times or intervals was worth a month until an instant.
create or replace function worth_apart(
  at timestamptz, price numeric, other_intervals jsonb, past_values jsonb, billed text
) returns numeric language sql immutable as $$
  select worth_of(coalesce(
    -- Times are kept to the millisecond; amounts_before takes three times as long.
    case when past_values is not null then amounts_at(past_values, at - interval '1 millisecond') end,
    amounts_of(price, other_intervals)
  ), billed)
$$;

-- What any subscription was worth, to 12 decimals; 0 in a trial. One expression, with numbers cast, so that it becomes
-- part of the statement: most need no more. In the past, the interval is that of the plan.
create or replace function worth_until(
  at timestamptz, price numeric, other_intervals jsonb, past_values jsonb, trial_ends_at timestamptz,
  own_unit text, own_count integer, plan_unit text, plan_count integer
) returns numeric language sql immutable as $$
  select trim_scale(round(case
    when trial_ends_at >= at then 0
    when past_values is not null
      then worth_apart(at, price, other_intervals, past_values, plan_unit || ' ' || plan_count::text)
    when other_intervals is not null
      then worth_apart(at, price, other_intervals, null, coalesce(own_unit, plan_unit) || ' ' || coalesce(own_count, plan_count)::text)
    else monthly_amount(price, coalesce(own_unit, plan_unit) || ' ' || coalesce(own_count, plan_count)::text)
  end, 12))
$$;

-- All of it, where it counts, else 0.
create or replace function price_in(amounts jsonb, counts boolean) returns numeric language sql immutable as $$
  select coalesce(sum(value::numeric), 0) from jsonb_each_text(amounts) where counts
$$;

-- The number of the band of a price, whose beginnings are also priceSteps in src/metrics/explain.
create or replace function price_band(price numeric) returns integer language sql immutable as $$
  select width_bucket(price, '{0,1,2,3,5,10,20,30,50,100,200,300,500,1000,2000,3000,5000,10000,20000,30000,50000,100000,
    200000,300000,500000,1000000,2000000,3000000,5000000,10000000,20000000,30000000,50000000,100000000,200000000,300000000,
    500000000,1000000000,2000000000,3000000000,5000000000}'::numeric[]) - 1
$$;
