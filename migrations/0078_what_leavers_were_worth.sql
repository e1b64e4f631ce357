-- What a subscription that left was worth, so that those who left can be listed by it. A later migration, which has the
-- functions, fills it.

alter table departures add column value numeric not null default 0;

-- listChurned by time, listChurnGroups, and listChurned of a period by age or worth, from the index alone.
create index departures_of_time on departures (shop_id, left_at, subscription_id)
  include (plan_id, cause, age_days, value);
drop index departures_by_time;
alter index departures_of_time rename to departures_by_time;
