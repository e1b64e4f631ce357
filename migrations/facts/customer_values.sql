-- Since when customers are customers, and what their subscriptions that are active or in a trial are worth a month
-- (docs/decisions/0020-ledger.md). refresh_subscribers stores it.

create or replace function customer_values_in(changes subscriber_change[])
returns table (customer_id bigint, since timestamptz, value numeric) language sql immutable as $$
  select c.customer_id, min(c.at),
    trim_scale(round(coalesce(sum(monthly_amount(a.amount, interval_of_fact(a.fact))), 0), 12))
  from unnest(changes) c
  left join lateral unnest(c.active) a on true
  group by c.customer_id
$$;

create or replace function customer_values_of(shop bigint, customer_ids bigint[])
returns table (customer_id bigint, since timestamptz, value numeric) language plpgsql stable as $$
begin
  return query select v.* from customer_values_in(array(select c from subscriber_changes_of(shop, customer_ids) c)) v;
end $$;
