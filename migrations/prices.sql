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
create or replace function prices_by_interval(price numeric, other_intervals jsonb, billed text)
returns table (billed_at text, price_then numeric, subscriptions integer) language sql immutable as $$
  select $3, price_at($1, $2, ''), 1
  union all
  select key, value::numeric, 0 from jsonb_each_text($2)
$$;
