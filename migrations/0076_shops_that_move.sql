-- A shop that is moved to another database (docs/decisions/0027-shops-that-move.md).

\ir functions.sql

do $$
declare
  held text;
begin
  foreach held in array array['audit_entries', 'audit_heads', 'contacted_cases', 'customer_keys', 'feeds',
    'ingest.batches', 'ingest.remembered_answers', 'ingest.sources', 'ingest.uploads', 'owners.events', 'owners.links',
    'owners.memberships', 'owners.notifications', 'owners.segments', 'owners.shop_policies', 'owners.sso_providers',
    'platforms.connections', 'platforms.streams', 'platforms.syncs', 'shopify.data_requests', 'shopify.shops',
    'shopify_syncs'] loop
    execute format(
      'create trigger hold_shop before insert or update or delete on %s for each row execute function hold_shop()', held);
  end loop;
end $$;

-- Names the move, in both databases: of the shop that leaves, and of the one that arrived.
alter table metric_shops add column move_id uuid;
-- Where the shop goes, while it leaves: nothing is stored for it any more.
alter table metric_shops add column moving_to text;

\ir serving.sql
