-- The first departures of each UTC day, so that a page of a year reads no more than those.

-- listChurned by worth.
create index if not exists departures_by_value
  on departures (shop_id, metric_day(left_at), value, left_at, subscription_id);

-- listChurned by age.
create index if not exists departures_by_age
  on departures (shop_id, metric_day(left_at), age_days, left_at, subscription_id);
