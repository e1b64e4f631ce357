-- What a member of a shop may do. Memberships made before, and by the version before, are of owners.
alter table owners.memberships
  add role text not null default 'owner' check (role in ('owner', 'developer', 'analyst'));

-- The role that an invitation gives. Of those made before, that of an owner.
alter table owners.links
  add role text not null default 'owner' check (role in ('owner', 'developer', 'analyst'));

-- The owner who invites, with whose role the invitation ends; null for the operator.
alter table owners.links add column invited_by uuid;

-- listInvitations, deleteInvitationsBy; what goes with a shop.
create index links_by_shop on owners.links (shop_id);

-- What people call themselves: personal data, as the address.
alter table owners.accounts add name text check (char_length(name) between 1 and 80);

-- In words, and as much of the address as the audit log has. Null: begun before, or unknown.
alter table owners.sessions
  add browser text check (char_length(browser) <= 80),
  add network text check (char_length(network) <= 80);
