-- Why payments failed, and what a dunning case is about, are added here; 0044 writes and fills it.

-- Why a payment failed, as the source says it, such as card_declined.
alter table payments add column failure_code text;

alter table dunning_cases
  -- Of the failed payment that opened the case: what is owed.
  add column amount numeric,
  -- Of the case's last failed payment.
  add column failure_code text,
  -- How many payments have failed in the case.
  add column attempts integer;
