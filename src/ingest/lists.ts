import { records } from '../records/records.ts';

const { plan, subscription } = records;

/** The most entries of lists in a record. Longer ones are refused before any entry is looked at. */
export const listLimits = {
  lines: subscription.fields.lines.max,
  statusEvents: subscription.fields.statusEvents.max,
  productIds: plan.fields.productIds.max,
} as const;
