-- listChurned by worth and by age: the first of each UTC day, so that a year costs no more than its days.
create index if not exists departures_by_value
  on departures (shop_id, metric_day(left_at), value, left_at, subscription_id);
create index if not exists departures_by_age
  on departures (shop_id, metric_day(left_at), age_days, left_at, subscription_id);
