import { line, plan, subscription } from '../rest/records.ts';

export const at = (date: string) => `2026-${date}T09:00:00.000Z`;
const cancelled = (date: string) => ({
  status: 'cancelled',
  statusEvents: [{ at: at(date), to: 'cancelled' }],
});

/** One that has cost so much a month since January, and something else since a day. */
export const repriced = (id: number, from: string, to: string, more: object = {}, on = '08-03') =>
  subscription(id, {
    customerId: id,
    createdAt: at('01-01'),
    updatedAt: at('01-01'),
    lines: [{ ...line, quantity: 1, currentPrice: to }],
    valueEvents: [
      { at: at('01-01'), mrr: from },
      { at: at(on), mrr: to },
    ],
    ...more,
  });

/** Ten of a plan became worth more on 3 August, and others on that day or another. */
export const repricedRecords = [
  plan({ id: 11, name: 'Box' }),
  plan({ id: 12, name: 'Tea' }),
  // Nine from 20 to 22, of which one left after 29 days, one after 31, one after 100, and one failed after 5.
  ...[1, 2, 3, 4, 5].map((id) => repriced(id, '20.00', '22.00')),
  repriced(6, '20.00', '22.00', cancelled('09-01')),
  repriced(7, '20.00', '22.00', cancelled('09-03')),
  repriced(8, '20.00', '22.00', cancelled('11-11')),
  repriced(9, '20.00', '22.00', {
    status: 'failed',
    statusEvents: [{ at: at('08-08'), to: 'failed' }],
  }),
  // The tenth has two: 40 to 44.
  repriced(10, '40.00', '44.00'),
  // Less on the same day; of another plan; on another day; paused then; in a trial; gone before.
  repriced(11, '20.00', '18.00'),
  repriced(12, '20.00', '22.00', { planId: 12 }),
  repriced(13, '20.00', '22.00', {}, '08-04'),
  repriced(14, '20.00', '22.00', {
    status: 'paused',
    statusEvents: [{ at: at('08-01'), to: 'paused' }],
  }),
  repriced(15, '20.00', '22.00', { trialEndsAt: at('09-01') }),
  repriced(16, '20.00', '22.00', cancelled('08-02')),
  // Less than a cent a month.
  repriced(17, '20.001', '20.00'),
];
