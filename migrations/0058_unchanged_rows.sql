-- What tells that all rows of a stream are as they were when they were last stored, and since when that is all that was
-- looked at. The previous version leaves both as they are.
alter table platforms.streams add column rows_digest text;
alter table platforms.streams add column mapped_at timestamptz(3);
