#!/bin/sh
# Makes the login and the database of the service: PostgreSQL's image runs it at the first start, as the
# superuser. The login owns its database and nothing else, so that it can migrate and serve, but read no
# files, run no programs and make no other logins.
set -eu

psql --username="${POSTGRES_USER:-postgres}" --dbname=postgres --no-psqlrc --set=ON_ERROR_STOP=1 <<'SQL'
\set password `printf %s "$SERVICE_PASSWORD"`
create role retention login password :'password'
  nosuperuser nocreatedb nocreaterole noreplication nobypassrls;
create database retention owner retention;
revoke all on database retention from public;
SQL
