-- What the ways in remember: where records came from and how fresh they are, the sources that push records and their
-- queue, and uploaded files.

-- How fresh a shop's data is, one row a feed, written with the records.
create table feeds (
  shop_id bigint not null references shops,
  feed text not null,
  -- When records last arrived, whether or not they changed anything.
  arrived_at timestamptz(3),
  -- The newest time in any of its records.
  newest_at timestamptz(3),
  -- When the source was last read to its end.
  completed_at timestamptz(3),
  primary key (shop_id, feed)
);

-- The source's own ids (`cus_…`) of records whose id here was derived from them. Only opaque ids are stored.
create table source_ids (
  shop_id bigint not null references shops,
  kind text not null
    check (kind in ('plan', 'subscription', 'customer', 'payment', 'refund', 'cancellation')),
  id bigint not null,
  source_id text not null check (octet_length(source_id) between 1 and 200),
  -- Serves both directions: the id here follows from the source's by a formula.
  primary key (shop_id, kind, id)
);

-- The date of the export that a record was last in, where it is known, so that an older export does not replace the
-- record. Not a column of the record, because a record that an export does not change is not written.
create table export_dates (
  shop_id bigint not null,
  kind text not null check (kind in ('plan', 'subscription', 'payment', 'refund', 'cancellation')),
  id bigint not null,
  exported_at timestamptz(3) not null,
  primary key (shop_id, kind, id)
);

-- The date of the latest complete export of a type of record, where it is known, so that an older export does not
-- bring back records that the complete one no longer had.
create table snapshot_dates (
  shop_id bigint not null,
  kind text not null check (kind in ('plan', 'subscription', 'payment', 'refund', 'cancellation')),
  exported_at timestamptz(3) not null,
  primary key (shop_id, kind)
);

-- The rest is in a schema that the login that serves requests may not use.
create schema ingest;

-- A shop's own programs and vendors, which push records in signed requests.
create table ingest.sources (
  shop_id bigint not null,
  source_id text not null,
  name text not null,
  created_by text not null,
  created_at timestamptz(3) not null,
  -- Encrypted by the service, with a key that the database does not have; null once the source is revoked.
  secret text,
  -- The secret before the last rotation, and until when it is accepted.
  previous_secret text,
  previous_until timestamptz(3),
  revoked_at timestamptz(3),
  -- How the source signs: by Standard Webhooks, or as the vendor of its webhooks does.
  scheme text not null default 'standard',
  primary key (shop_id, source_id),
  -- findPushSource: requests name only the source.
  unique (source_id)
);

create table ingest.batches (
  shop_id bigint not null,
  source_id text not null,
  -- Follows from the id of the request, so that a repeated request is recognised.
  batch_id uuid not null,
  -- The order in which a source's batches are stored.
  position bigint generated always as identity,
  -- SHA-256 of the request, in base64.
  digest text not null,
  received_at timestamptz(3) not null,
  -- How often a worker began to store it.
  attempts integer not null default 0,
  -- What is still to be stored, one line for each record; null once the batch is finished.
  lines text,
  -- Whether its remaining records wait for others that have not arrived.
  is_waiting boolean not null default false,
  -- JSON: how many records were stored, replaced and so on, and which lines were refused.
  outcomes text not null,
  refused text not null,
  has_failed boolean not null default false,
  finished_at timestamptz(3),
  -- When a waiting batch is tried again.
  retry_at timestamptz(3),
  -- Type and id of its records that wait: later records with the same type and id wait behind them.
  waiting_keys text[] not null default '{}',
  -- How many of its records were refused.
  refused_count integer not null default 0,
  primary key (shop_id, source_id, batch_id)
);

-- listNextBatches, findQueueUse, listWaitingKeys
create index batches_unfinished on ingest.batches (shop_id, source_id, position) where finished_at is null;
-- deleteOldBatches; listPushSources: a source's last batch.
create index batches_finished on ingest.batches (shop_id, source_id, finished_at) where finished_at is not null;
-- listPushSources: what was refused lately.
create index batches_refused on ingest.batches (shop_id, source_id, received_at) where refused_count > 0;

-- The file that an owner has uploaded for a shop, or the result of its import. Only one for each shop: the next one
-- replaces it. The file itself is on the disk of a server, never here.
create table ingest.uploads (
  shop_id bigint primary key,
  upload_id uuid not null,
  -- Its name on the owner's computer.
  file_name text not null,
  bytes bigint not null,
  received_at timestamptz(3) not null,
  state text not null
    check (state in ('waiting', 'running', 'stopping', 'done', 'failed', 'stopped', 'interrupted')),
  -- JSON: what the owner has said about the file; empty again once it is imported.
  answers text not null default '{}',
  -- When the process that imports it last noted progress: if that is long ago, it has died.
  active_at timestamptz(3),
  -- How much of the file has been read.
  percent integer not null default 0,
  -- JSON: how many records were stored, replaced and so on, by type.
  counts text not null default '{}',
  -- JSON: why lines were refused, and which. Without values of the file.
  refused text not null default '{"groups":[],"lines":[]}',
  -- Rows that matched no rule of the mapping.
  skipped bigint not null default 0,
  -- Why it failed.
  problem text,
  finished_at timestamptz(3)
);
