import { z } from 'zod';
import { subscriptionStatuses } from '../vocabulary.ts';
import { defineRecord } from './fields.ts';
import * as f from './fields.ts';
import { type PaidPeriod, arePaidPeriods } from './paid-periods.ts';

/** A line, in a table of its own. */
const line = {
  lineId: f.id('line_id', 'line'),
  productId: f.id('product_id', 'product'),
  productTitle: f.text('product_title'),
  variantId: f.id('variant_id', 'variant'),
  variantTitle: f.orNull(f.text('variant_title')),
  quantity: f.integer('quantity', 1, 1_000_000),
  currentPrice: f.amount('current_price'),
};

/** A change of status; the table has both statuses, before and after. */
const statusEvent = {
  at: f.pastTime('at'),
  to: f.oneOf('to_status', subscriptionStatuses),
};

const paidPeriods = f.field({ kind: 'json' }, 'paid_periods', () =>
  z.custom<readonly PaidPeriod[]>(arePaidPeriods),
);

export const subscription = defineRecord('subscription', {
  table: 'subscriptions',
  fields: {
    id: f.id('subscription_id', 'subscription'),
    customerId: f.id('customer_id', 'customer'),
    planId: f.id('plan_id', 'plan'),
    status: f.oneOf('status', subscriptionStatuses),
    createdAt: f.pastTime('created_at'),
    updatedAt: f.orNull(f.pastTime('updated_at')),
    nextBillingDate: f.orNull(f.time('next_billing_at')),
    paidThroughAt: f.orNull(f.time('paid_through_at')),
    statusEvents: f.orEmpty(f.list(statusEvent, { min: 0, max: 10_000 })),
    intervalUnit: f.orNull(f.intervalUnit('own_interval_unit')),
    intervalCount: f.orNull(f.intervalCount('own_interval_count')),
    // The stored status history stays, and a changed status is added to it.
    preserve: f.preserve('history'),
    // Replace paidThroughAt, together with those that are stored.
    paidPeriods: f.ofFeed(paidPeriods),
    lines: f.list(line, { min: 1, max: 250 }),
  },
  about: {
    paidThroughAt: 'the end of the last paid period',
    statusEvents: 'oldest first; the last `to` is the `status`',
    intervalUnit: "only with `intervalCount`; default: the plan's",
    intervalCount: "only with `intervalUnit`; default: the plan's",
    lines: 'each `lineId` once, in display order',
    'lines[].productTitle': 'may be empty',
    'lines[].currentPrice': 'the price of one unit',
  },
  rule({ status, intervalUnit, intervalCount, lines, statusEvents: events }, addProblem) {
    if (new Set(lines.map(({ lineId }) => lineId)).size < lines.length) {
      addProblem('lines', 'must not have the same lineId twice');
    }
    if (events.some(({ at }, index) => index > 0 && at < (events[index - 1]?.at ?? 0))) {
      addProblem('statusEvents', 'must be oldest first');
    }
    if (events.length > 0 && events.at(-1)?.to !== status) {
      addProblem('statusEvents', `must end in the status, ${status}`);
    }
    if ((intervalUnit === null) !== (intervalCount === null)) {
      addProblem('intervalCount', 'and intervalUnit must be given together');
    }
  },
});
