-- A shop may have streams of several platforms, which may be called the same.
alter table platforms.streams add column platform text not null default 'postgres';
alter table platforms.streams drop constraint streams_pkey;
alter table platforms.streams add primary key (shop_id, platform, stream);
