-- listOutcomesByReason: reads the sessions of a window from the index alone.
create index cancellation_sessions_by_reason
  on cancellation_sessions (shop_id, created_at) include (detected_reason, outcome);
