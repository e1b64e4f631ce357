-- When a waiting batch is tried again, and type and id of its records that wait. Later records with the same
-- type and id wait behind them.
alter table ingest.batches
  add column retry_at timestamptz(3),
  add column waiting_keys text[] not null default '{}';
