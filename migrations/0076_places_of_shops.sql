-- Where a shop moves to (docs/decisions/0027-shops-that-move.md). The functions of a later migration read it.

-- Names the move, in both databases: of the shop that leaves, and of the one that arrived.
alter table metric_shops add column move_id uuid;
-- Where the shop goes, while it leaves: nothing is stored for it any more.
alter table metric_shops add column moving_to text;
