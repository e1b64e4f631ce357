-- How fresh a shop's data is, by the way on which it comes. One row a feed, written with the records.
create table feeds (
  shop_id bigint not null references shops,
  feed text not null,
  -- When records came last, whether or not they said anything new.
  arrived_at timestamptz(3),
  -- The newest time that any of its records tells of itself.
  newest_at timestamptz(3),
  -- When the source was last read to its end.
  completed_at timestamptz(3),
  primary key (shop_id, feed)
);
