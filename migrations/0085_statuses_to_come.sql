-- Entitlements before a change of status that is dated minutes ahead.

\ir serving.sql
