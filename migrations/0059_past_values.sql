-- What subscriptions were worth before (docs/decisions/0015-prices-and-their-past.md).

-- When it was seen, and what it was worth then: [[epoch milliseconds, prices by interval], ...], where '' is the
-- interval of its plan; an entry without prices was worth what it was before. Null while it has always been worth what
-- it is. `true` after the prices: its record said what it had been worth before.
alter table subscriptions add column past_values jsonb;

-- From when on changes of what the shop's subscriptions are worth are known.
alter table metric_shops add column values_since timestamptz(3) not null default now();
