import type { SubscriptionStatus } from '../vocabulary.ts';
import type { FieldSpec, Mapping } from './schema.ts';

/** Whether a mapping makes cancelled subscriptions without a date for that. */
export function lacksEndDates({ records }: Mapping): boolean {
  return records.some(
    (record) =>
      record.type === 'subscription' &&
      record.fields['updatedAt'] === undefined &&
      mayBe(record.fields['status'], 'cancelled') &&
      !record.statusEvents?.some(({ to }) => mayBe(to, 'cancelled')),
  );
}

function mayBe(spec: FieldSpec | undefined, status: SubscriptionStatus): boolean {
  if (!spec) return false;
  const { value, table, otherwise, empty } = spec;
  if (value !== undefined) return value === status;
  return !table || [...Object.values(table), otherwise, empty].includes(status);
}
