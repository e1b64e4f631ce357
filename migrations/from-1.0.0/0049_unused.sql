-- What neither this version nor 1.0.0 uses. The table and the column are locked for a moment only.
drop table if exists key_requests;
alter table owners.attempts drop column if exists subject;
