import { subscription } from '../rest/records.ts';

export const at = Date.parse;
export const iso = (time: number) => new Date(time).toISOString();
export const day = 86_400_000;

export const left = (id: number, createdAt: string, leftAt: string, status = 'cancelled') =>
  subscription(id, {
    customerId: id,
    status,
    createdAt,
    updatedAt: leftAt,
    statusEvents: [{ at: leftAt, to: status }],
  });
export const begun = (id: number, createdAt: string, over: object = {}) =>
  subscription(id, { customerId: id, createdAt, updatedAt: createdAt, ...over });
export const payment = (
  id: number,
  subscriptionId: number,
  status: string,
  processedAt: string,
) => ({
  type: 'payment',
  id,
  subscriptionId,
  cycle: '1',
  status,
  amount: '30.60',
  processedAt,
});

/** A period of a week whose ends are midnights. */
export const week = { from: at('2026-11-01T00:00:00.000Z'), until: at('2026-11-08T00:00:00.000Z') };
/** One millisecond before, at and after the start of the week, then its end. */
export const [beforeStart, start, beforeEnd, end] = [
  week.from - 1,
  week.from,
  week.until - 1,
  week.until,
].map(iso) as [string, string, string, string];
