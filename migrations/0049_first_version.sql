-- The tables of the first version, in the order in which they read best. It is one migration: a new database gets all of
-- them at once, and records this file's number. Later changes are numbered files beside this one; functions are in
-- functions.sql, which the last migration that changed one includes; schema.sql has what all of it makes.
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
\ir tables/facts.sql
