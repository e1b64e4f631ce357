-- Since when customers are customers, and what their subscriptions that are active or in a trial are worth a month
-- (docs/decisions/0040-values-of-customers.md). refresh_subscribers stores it.

-- Written out, since a call of monthly_amount for each fact would cost more than all the rest.
create or replace function customer_values_in(changes subscriber_change[])
returns table (customer_id bigint, since timestamptz, value numeric) language sql immutable as $$
  select c.customer_id, min(c.at), trim_scale(round(coalesce(sum(round(a.amount, 40)
    * case when a.unit in ('day', 'week') then 365 else 1 end
    / (a.count * case a.unit when 'week' then 84 when 'month' then 1 else 12 end)), 0), 12))
  from unnest(changes) c
  left join lateral (
    select split_part(fact, ' ', 2) as unit, split_part(fact, ' ', 3)::integer as count, amount
    from unnest(c.active)
  ) a on true
  group by c.customer_id
$$;

create or replace function customer_values_of(shop bigint, customer_ids bigint[])
returns table (customer_id bigint, since timestamptz, value numeric) language plpgsql stable as $$
begin
  return query select v.* from customer_values_in(array(select c from subscriber_changes_of(shop, customer_ids) c)) v;
end $$;
