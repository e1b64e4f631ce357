-- Nothing reads it since the departures are stored.
drop index status_events_leaving;
