-- Keys that end by themselves: at a time that was chosen, or some time after another took their place.
-- Both columns are null at first, so that nothing is rewritten.
alter table api_keys
  add column expires_at timestamptz(3),
  -- The key_id of the one that was made in exchange.
  add column replaced_by text;
