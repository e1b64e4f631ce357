import type { ImportRecord } from '../records/schema.ts';

/** When a record says it was created, changed or processed, in epoch milliseconds. */
function timesOf(record: ImportRecord): (number | null | undefined)[] {
  switch (record.type) {
    case 'plan':
      return [record.updatedAt];
    case 'subscription':
      return [record.createdAt, record.updatedAt, record.statusEvents.at(-1)?.at];
    case 'payment':
      return [record.processedAt, record.updatedAt];
    case 'refund':
      return [record.refundedAt, record.updatedAt];
    case 'cancellation':
      return [record.createdAt, record.updatedAt];
    case 'delete':
      return [];
  }
}

/**
 * When records arrived, and the newest time in them. Times after `now` are ignored, since they do
 * not make data fresh.
 * @param now epoch milliseconds
 */
export function arrivalOf(records: readonly ImportRecord[], now: number) {
  let newest: number | undefined;
  for (const record of records) {
    for (const at of timesOf(record)) {
      if (typeof at === 'number' && at <= now && (newest === undefined || at > newest)) newest = at;
    }
  }
  return {
    arrivedAt: new Date(now),
    ...(newest !== undefined && { newestAt: new Date(newest) }),
  };
}
