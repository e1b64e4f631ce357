-- What Shopify had of billing attempts and refunds before this time, by its clock, is stored; null makes the next sync
-- read everything (docs/decisions/0012-shopify.md).
alter table shopify_syncs add column payments_watermark timestamptz(3);
