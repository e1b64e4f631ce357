import { z } from 'zod';
import { subscriptionStatuses } from '../vocabulary.ts';
import { defineRecord } from './fields.ts';
import * as f from './fields.ts';
import { type PaidPeriod, arePaidPeriods } from './paid-periods.ts';
import { type SeenValue, arePastValues } from './past-values.ts';

/** A line, in a table of its own. */
const line = {
  lineId: f.id('line_id', 'line'),
  productId: f.id('product_id', 'product'),
  productTitle: f.text('product_title'),
  variantId: f.id('variant_id', 'variant'),
  variantTitle: f.orNull(f.text('variant_title')),
  quantity: f.integer('quantity', 1, 1_000_000),
  currentPrice: f.price('current_price'),
  intervalUnit: f.optional(f.intervalUnit('interval_unit')),
  intervalCount: f.optional(f.intervalCount('interval_count')),
  // The stored price of the variant stays, and its interval.
  preserve: f.preserve('price'),
};

/** A change of status; the table has both statuses, before and after. */
const statusEvent = {
  at: f.orUnknown(f.pastTime('at')),
  to: f.oneOf('to_status', subscriptionStatuses),
};

/** A change of what it is worth a month, trials left aside. */
const valueEvent = { at: f.pastTime('at'), mrr: f.price('mrr') };

const paidPeriods = f.field({ kind: 'json' }, 'paid_periods', () =>
  z.custom<readonly PaidPeriod[]>(arePaidPeriods),
);

const pastValues = f.field({ kind: 'json' }, 'past_values', () =>
  z.custom<readonly SeenValue[]>(arePastValues),
);
const feed = f.field({ kind: 'json' }, 'feed', () => z.string().max(100));

/** What stays as it is stored where the record does not have it: of `lines`, those of other variants. */
const stays = f.field({ kind: 'json' }, undefined, () =>
  z.array(z.enum(['lines', 'trialEndsAt', 'paidThroughAt'])),
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
    statusEvents: f.orEmpty(f.list(statusEvent, { min: 0, max: 10_000, table: 'status_events' })),
    intervalUnit: f.orNull(f.intervalUnit('own_interval_unit')),
    intervalCount: f.orNull(f.intervalCount('own_interval_count')),
    // The stored status history stays, and a changed status is added to it.
    preserve: f.preserve('history'),
    // Replace paidThroughAt, together with those that are stored.
    paidPeriods: f.ofFeed(paidPeriods),
    lines: f.list(line, { min: 1, max: 250, table: 'subscription_lines' }),
    trialEndsAt: f.optional(f.time('trial_ends_at')),
    valueEvents: f.optional(f.list(valueEvent, { min: 1, max: 10_000 })),
    stays: f.ofFeed(stays),
    // Of an export of a shop: valueEvents as they are stored, exact, and the feed that it came by.
    pastValues: f.ofFeed(pastValues),
    feed: f.ofFeed(feed),
  },
  about: {
    paidThroughAt: 'the end of the last paid period',
    statusEvents: 'oldest first; the last `to` is the `status`',
    'statusEvents[].at': 'null if it is unknown: only of the last one, which ended or paused it',
    intervalUnit: "only with `intervalCount`; default: the plan's",
    intervalCount: "only with `intervalUnit`; default: the plan's",
    lines: 'each `lineId` once, in display order',
    'lines[].productTitle': 'may be empty',
    'lines[].currentPrice':
      'what one unit costs per billing cycle of the line, before tax and after the discounts that go on; at most 12 decimals',
    'lines[].intervalUnit': "only with `intervalCount`; default: the subscription's",
    'lines[].intervalCount': "only with `intervalUnit`; default: the subscription's",
    valueEvents:
      'what it was worth a month and is, trials left aside, oldest first; the last one is what the lines say',
    'valueEvents[].at': 'not before createdAt',
    'valueEvents[].mrr': 'at most 12 decimals',
    trialEndsAt: 'until then the subscription is worth nothing in MRR; may lie in the future',
  },
  rule(record, addProblem) {
    const { status, createdAt, intervalUnit, intervalCount, lines, statusEvents: events } = record;
    const values = record.valueEvents ?? [];
    const early = values.findIndex(({ at }, index) => at < (values[index - 1]?.at ?? createdAt));
    if (early === 0) addProblem('valueEvents', 'must not begin before createdAt');
    if (early > 0) {
      addProblem(
        'valueEvents',
        `must be oldest first: number ${early + 1} is before number ${early}`,
      );
    }
    if (new Set(lines.map(({ lineId }) => lineId)).size < lines.length) {
      addProblem('lines', 'must not have the same lineId twice');
    }
    if (
      lines.some((each) => (each.intervalUnit === undefined) !== (each.intervalCount === undefined))
    ) {
      addProblem('lines', 'must have intervalUnit and intervalCount together');
    }
    if (events.some(({ at }, index) => at !== null && at < (events[index - 1]?.at ?? 0))) {
      addProblem('statusEvents', 'must be oldest first');
    }
    if (
      events.some(
        ({ at, to }, index) => at === null && (index < events.length - 1 || to === 'active'),
      )
    ) {
      addProblem(
        'statusEvents',
        'may have a null `at` only in the last one, unless that is active',
      );
    }
    if (events.length > 0 && events.at(-1)?.to !== status) {
      addProblem('statusEvents', `must end in the status, ${status}`);
    }
    if ((intervalUnit === null) !== (intervalCount === null)) {
      addProblem('intervalCount', 'and intervalUnit must be given together');
    }
  },
});
