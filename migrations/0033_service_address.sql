-- Where the service was last reached, for the links that commands print: a command does not know the port of a
-- server that was started with other settings.
create table owners.service_address (
  is_only boolean primary key default true check (is_only),
  url text not null
);
