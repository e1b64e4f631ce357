-- The file that an owner has uploaded for a shop, or the result of its import. Only one at a time, which the next
-- one replaces. The file itself is on the disk of a server, never here.
create table ingest.uploads (
  shop_id bigint primary key,
  upload_id uuid not null,
  -- As the owner's computer calls it.
  file_name text not null,
  bytes bigint not null,
  received_at timestamptz(3) not null,
  state text not null
    check (state in ('waiting', 'running', 'stopping', 'done', 'failed', 'stopped', 'interrupted')),
  -- JSON: what the owner has said about the file; empty again once it is imported.
  answers text not null default '{}',
  -- When the process that imports it was last at work: if that is long ago, it has died.
  active_at timestamptz(3),
  -- How much of the file has been read.
  percent integer not null default 0,
  -- JSON: what became of the records, by type.
  counts text not null default '{}',
  -- JSON: why lines were refused, and which. Without values of the file.
  refused text not null default '{"groups":[],"lines":[]}',
  -- Rows that matched no rule of the mapping.
  skipped bigint not null default 0,
  -- Why it failed.
  problem text,
  finished_at timestamptz(3)
);
