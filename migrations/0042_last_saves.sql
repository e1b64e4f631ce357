-- What lists and counts of cancel-flow sessions need, and the column in which 0045 keeps when a subscription was
-- last saved.

-- listSessions; countSessions reads the sessions of a window from the index alone. On a large shop, create it
-- concurrently beforehand, so that writers do not wait.
create index if not exists cancellation_sessions_by_start
  on cancellation_sessions (shop_id, created_at, session_id)
  include (detected_reason, offer_type, outcome);

-- What it does as well.
drop index cancellation_sessions_by_reason;
drop index cancellation_sessions_by_creation;
alter index cancellation_sessions_by_start rename to cancellation_sessions_by_creation;

-- When the last cancel-flow session that saved it began.
alter table subscriptions add column saved_at timestamptz(3);
