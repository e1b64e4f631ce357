-- What was found with what an owner has pasted, as JSON, until the owner starts the sync; null from then on.
alter table platforms.connections add column draft text;

-- Why the sync failed, in words for owners; null if only operators understand it.
alter table platforms.syncs add column reason text;
-- Whether the first sync may replace what came from elsewhere, as the owner has said.
alter table platforms.syncs add column takes_over boolean not null default false;
-- The records that were refused when any last were: how many, when, and why, as a JSON list of reasons without values.
alter table platforms.syncs add column refused integer not null default 0;
alter table platforms.syncs add column refused_records_at timestamptz(3);
alter table platforms.syncs add column refusals text not null default '[]';
