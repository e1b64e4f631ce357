-- Destructive webhooks that were handled, so that a signed body that is replayed destroys nothing twice. The
-- id is made from the body alone. There is no shop in it, and a row outlives its shop: otherwise a body from
-- before the shop was deleted would count again once the shop is back.
create table shopify.handled_events (
  event_id uuid primary key,
  handled_at timestamptz(3) not null
);

-- When an operator last said that the app is back. A signed body from before then cannot uninstall it again.
alter table shopify.shops add column reinstalled_at timestamptz(3);
