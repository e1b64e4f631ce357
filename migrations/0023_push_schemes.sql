-- How a source signs its requests: by Standard Webhooks, or as the vendor of its webhooks does.
alter table ingest.sources add column scheme text not null default 'standard';
