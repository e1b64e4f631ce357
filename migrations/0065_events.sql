-- What happened to a shop beside its business, which charts mark: files that changed its records, and alerts by mail.
create table owners.events (
  shop_id bigint not null,
  -- When a file was imported; the beginning of the day that an alert is about.
  at timestamptz(3) not null,
  kind text not null check (kind in ('import', 'alert')),
  -- How many records a file changed, or what an alert said. Several owners may get the same one.
  detail text not null check (octet_length(detail) between 1 and 4000),
  -- listEvents
  primary key (shop_id, at, kind, detail)
);
