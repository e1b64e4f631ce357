-- How far a shop that belongs to Shopify is synchronised from there. One row a shop.
create table shopify_syncs (
  shop_id bigint not null references shops,
  -- Which of Shopify's shops it is.
  domain text not null,
  -- Whatever changed before, by Shopify's clock, is stored; null until the first whole result is.
  watermark timestamptz(3),
  -- When the last bulk queries began whose whole results are stored, by the clock of who began them.
  reconciled_at timestamptz(3),
  -- Bulk operations that were begun and whose results are not stored yet, for whoever comes next.
  plans_operation text,
  contracts_operation text,
  operations_begun_at timestamptz(3),
  primary key (shop_id)
);
