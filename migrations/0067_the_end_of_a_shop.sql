-- When a shop's data ends: as a whole, or what is older than the shop keeps.

-- Since when the shop is being deleted: nothing is stored for it any more.
alter table shops add column deleting_since timestamptz(3);
-- For how many months what has ended is kept, by type of record; null for all types: without end.
alter table shops add column keep_months jsonb;
