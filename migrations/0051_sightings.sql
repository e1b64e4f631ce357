-- What exports showed of subscriptions, so that changes without a date are dated by all of them, in whatever order they
-- are imported (docs/decisions/0009-exports-and-deletions.md).

-- The exports of the shop's subscriptions, in a row of that kind, as a JSON list; their places are their numbers. Its
-- exported_at is 1970 if none of them was complete, or deleted what it did not have.
alter table snapshot_dates add column exports text;

-- Which status the exports with which numbers showed, as JSON (src/ingest/histories/sightings.ts); null if only the
-- record's own history is known.
alter table export_dates add column sightings text;

-- countUndated
create index subscriptions_undated on subscriptions (shop_id) where status_since is null;
