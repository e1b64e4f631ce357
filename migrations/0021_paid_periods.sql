-- What a platform said its payments paid for, as [[payment, end in epoch milliseconds], ...], the end null
-- if the payment was taken back; null for subscriptions that no platform reports so.
alter table subscriptions add column paid_periods jsonb;
