-- What the figures of a shop's subscriptions are broken down by.

alter table subscriptions
  -- Which feed its record came from last; null of one that has not changed since that is stored.
  add column feed text;
