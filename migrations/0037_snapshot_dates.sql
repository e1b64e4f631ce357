-- The date of the latest complete export of a type of record, where it is known, so that an older export does not
-- bring back what that one no longer had.
create table snapshot_dates (
  shop_id bigint not null,
  kind text not null
    check (kind in ('plan', 'subscription', 'payment', 'refund', 'cancellation')),
  exported_at timestamptz(3) not null,
  primary key (shop_id, kind)
);
