-- What a login that sees the rows of one shop at a time looks up for requests of any
-- (docs/decisions/0052-shops-apart-in-the-database.md).

\ir serving.sql
