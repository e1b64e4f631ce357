-- The subscriptions of a product (chosenOf), and which products there are (listProducts). Writers wait until it is
-- there; on a large database, create it concurrently beforehand.
create index if not exists subscription_lines_by_product
  on subscription_lines (shop_id, product_id);

-- Conditions that a shop's owners saved under a name.
create table owners.segments (
  shop_id bigint not null,
  name text not null check (char_length(name) between 1 and 80),
  -- As addresses have them, such as plan=11&status=active.
  query text not null,
  -- listSegments
  primary key (shop_id, name)
);
