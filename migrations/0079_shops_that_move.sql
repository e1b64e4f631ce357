-- What is written beside a shop's records waits, too, while the shop moves (docs/decisions/0027-shops-that-move.md).

\ir moves.sql

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
