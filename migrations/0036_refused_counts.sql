-- How many records of a batch were refused, for the page and the list of sources; those of earlier batches are not
-- counted. Meanwhile pushes wait, about a third of a second for a million batches.
alter table ingest.batches add column refused_count integer not null default 0;

-- What was refused lately, by source.
create index batches_refused on ingest.batches (shop_id, source_id, received_at)
  where refused_count > 0;
