-- All functions and triggers, as they are now: each is created, or replaced. The last migration that changes one includes
-- this file, and no earlier one does, so that nothing is said of a function but what holds.

\ir prices.sql

-- What follows from the records. Each file has one rule: `…_of` computes its table from the records (a column, for
-- saves), and `refresh_…` stores what differs.
\ir facts/subscriber_changes.sql
\ir facts/customer_values.sql
\ir facts/subscription_values.sql
\ir facts/churned.sql
\ir facts/price_changes.sql
\ir facts/dunning_cases.sql
\ir facts/failed_cycles.sql
\ir facts/superseded_facts.sql
\ir facts/saves.sql

\ir ledger.sql
\ir watch.sql
\ir triggers.sql
