-- Records that a shop's own programs push. In a schema of their own, which the login that serves requests may
-- not use.
create schema ingest;

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
  primary key (shop_id, source_id),
  -- For requests, which name only the source.
  unique (source_id)
);

create table ingest.batches (
  shop_id bigint not null,
  source_id text not null,
  -- Follows from the id of the request, so that a repeated one is recognised.
  batch_id uuid not null,
  -- Batches of a source are stored in this order.
  position bigint generated always as identity,
  -- SHA-256 of the request, in base64.
  digest text not null,
  received_at timestamptz(3) not null,
  -- How often storing it was begun.
  attempts integer not null default 0,
  -- What is still to be stored, one line for each record; null once it is finished.
  lines text,
  -- Whether its remaining records wait for others that have not arrived.
  is_waiting boolean not null default false,
  -- JSON: how many records were stored, replaced and so on, and which lines were refused.
  outcomes text not null,
  refused text not null,
  has_failed boolean not null default false,
  finished_at timestamptz(3),
  primary key (shop_id, source_id, batch_id)
);

-- For the next batch of a source, and to count what a shop has queued.
create index batches_unfinished on ingest.batches (shop_id, source_id, position)
  where finished_at is null;
-- To delete old batches.
create index batches_finished on ingest.batches (shop_id, source_id, finished_at)
  where finished_at is not null;
