#!/bin/sh
# Creates the service's login and database. PostgreSQL's image runs this as the superuser at the first
# start. The login owns only its database: it can migrate and serve, but cannot read files, run programs
# or create other logins.
set -eu

psql --username="${POSTGRES_USER:-postgres}" --dbname=postgres --no-psqlrc --set=ON_ERROR_STOP=1 <<'SQL'
\set password `printf %s "$SERVICE_PASSWORD"`
create role retention login password :'password'
  nosuperuser nocreatedb nocreaterole noreplication nobypassrls;
create database retention owner retention;
revoke all on database retention from public;
SQL
