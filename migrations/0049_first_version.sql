-- The schema, in the order in which it reads best. It is one migration: a new database gets all of it at once, and
-- records this file's number. Later changes are numbered files beside this one; schema.sql has what all of them make.
--
-- Two idioms come up everywhere:
--
-- * A row is looked up as `id between x and x order by id limit 1`, within a `lateral (…)` that ends with `limit` or
--   `offset 0`: it asks for the order of the one index that must serve it, so that the plan is right for any statistics,
--   even those of an empty table (docs/decisions/0005-plans-and-statements.md).
-- * Each statement names its shop, writes only at its top level (no insert inside `with`), and begins an insert of many
--   rows with the shop's row of metric_shops: so the same SQL runs on one server, on the embedded database, and on a
--   cluster that distributes its tables by shop (docs/decisions/0004-standbys-and-clusters.md).

\ir tables/records.sql
\ir tables/keys.sql
\ir tables/owners.sql
\ir tables/ingest.sql
\ir tables/platforms.sql

-- What follows from the records. Each file has one rule, the table that keeps what follows from it (a column, for
-- saves), `…_of`, which computes that from the records, and `refresh_…`, which stores what differs.
\ir facts/subscriber_changes.sql
\ir facts/churned.sql
\ir facts/dunning_cases.sql
\ir facts/failed_cycles.sql
\ir facts/superseded_facts.sql
\ir facts/saves.sql

\ir ledger.sql
\ir triggers.sql
