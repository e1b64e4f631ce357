-- What changed in the figures when a file was imported: JSON, those before and after, or null.
alter table ingest.uploads add column figures text not null default 'null';

-- What an owner has said about the columns of a file, for the next one with the same headings.
create table ingest.remembered_answers (
  shop_id bigint not null,
  -- The SHA-256 of the headings, in hexadecimal.
  headings text not null,
  -- JSON: pairs of a question and its answer, which name columns and words of a status.
  answers text not null,
  saved_at timestamptz(3) not null,
  primary key (shop_id, headings)
);
