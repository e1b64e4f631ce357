-- What a member of a shop may do. Memberships made before, and by the version before, are of owners.
alter table owners.memberships
  add role text not null default 'owner' check (role in ('owner', 'developer', 'analyst'));
