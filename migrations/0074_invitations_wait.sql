-- The link of the invitation that is accepted once the second factor is right.
alter table owners.challenges add column link_hash bytea;
