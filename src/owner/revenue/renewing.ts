import { z } from 'zod';
import * as column from '../framework/columns.ts';
import { ServiceError } from '../../errors.ts';
import { html } from '../../http/html.ts';
import { monthBefore } from '../../metrics/bounds.ts';
import { projectRenewals, projectedWeekOf, projectedWeeks } from '../../metrics/renewals.ts';
import type { RenewingOrder, RenewingRow } from '../../metrics/renewing.ts';
import { type Ratio, parseDecimal, zero } from '../../money.ts';
import { type ListVisit, figuresOf } from '../framework/list.ts';
import { defineList } from '../framework/define-list.ts';
import { positionSchema } from '../framework/cursor.ts';
import { formatMoney, countOf, rounded } from '../ui/formats.ts';
import { showPeriod } from '../view/picker.ts';
import { todayOf } from '../view/view.ts';

const renewingFilters = {
  week: z
    .string()
    .refine((text) => /^[1-9]$/.test(text) && Number(text) <= projectedWeeks, {
      error: ({ input }) =>
        `“${String(input)}” is not a week ahead. Choose one from 1 to ${projectedWeeks}.`,
    })
    .transform(Number)
    .optional(),
};

type Visit = ListVisit<typeof renewingFilters, RenewingOrder>;

interface Total {
  readonly renewals: number;
  readonly value: Ratio;
}

/**
 * The week of the projection, from 0.
 * @throws ServiceError invalid, for another week than the next of a segment
 */
function weekOf({ filters: { week = 1 }, view: { segment } }: Visit): number {
  if (segment && week !== 1) {
    throw new ServiceError(
      'invalid',
      'Of a segment, only the next 7 days are known. Choose week 1.',
    );
  }
  return week - 1;
}

/** The subscriptions that are expected to renew in a week. */
export const renewing = defineList<RenewingRow, Total>()({
  path: '/revenue/renewals',
  title: 'Renewals to come',
  label: 'Renewals to come',
  parent: '/revenue',
  noun: 'renewals',
  caption: 'Subscriptions expected to renew',
  pickers: ['segment'],
  view: todayOf,
  endWithView: ['week'],
  filters: renewingFilters,
  links: {
    name: 'week',
    label: 'Week',
    none: 'Next 7 days',
    options: (visit) => {
      const further = Array.from({ length: visit.view.segment ? 0 : projectedWeeks - 1 });
      return Object.fromEntries(
        further.map((_, index) => [
          String(index + 2),
          [showPeriod(visit, projectedWeekOf(visit.view.now, index + 1))],
        ]),
      );
    },
  },
  orders: { soonest: 'The next to be billed first', latest: 'The last to be billed first' },
  place: positionSchema,
  placeOf: ({ nextBillingAt, subscriptionId }) => ({
    createdAt: nextBillingAt,
    id: subscriptionId,
  }),
  read: async (visit, page) => {
    const week = { now: visit.view.now, week: weekOf(visit) };
    return figuresOf(visit, (figures) => figures.renewing(week, page));
  },
  summarise: readTotal,
  count: (_, { renewals }) => renewals,
  head(visit, { renewals, value }) {
    const { shop, view } = visit;
    const money = formatMoney(visit, rounded(value, shop));
    return html`<p>
        <strong>${countOf(visit, renewals, 'subscription')} for ${money}</strong> expected to renew
        ${showPeriod(visit, projectedWeekOf(view.now, weekOf(visit)))}.
      </p>
      <p class="quiet">
        A projection: active subscriptions by their next billing date, and from there on by their
        billing interval. A week has each subscription once. Times are in UTC.
      </p>`;
  },
  columns: [
    column.subscription,
    column.customer,
    column.numberedPlan,
    { ...column.interval, kind: undefined },
    column.decimal('Price', ({ price }) => price, {
      head: 'Price per cycle',
      sum: ({ value }, { shop }) => rounded(value, shop),
    }),
    column.time('Next billing', ({ nextBillingAt }) => nextBillingAt, {
      sort: ['soonest', 'latest'],
    }),
  ],
  empty: {
    title: 'Nothing renews in these 7 days',
    text: 'Active subscriptions appear here by their next billing date. Overdue ones do not.',
  },
});

async function readTotal(visit: Visit): Promise<Total> {
  const { parts, shop, view } = visit;
  const week = weekOf(visit);
  if (!view.segment) {
    const weeks = await parts.store.readRecent(shop.id, ({ analyse }) =>
      projectRenewals(analyse, shop.id, view.now),
    );
    return weeks[week] ?? { renewals: 0, value: zero };
  }
  const row = await figuresOf(visit, (figures) => figures.summary(monthBefore(view.now), view.now));
  return {
    renewals: row.upcomingRenewals ?? 0,
    value: parseDecimal(row.upcomingRenewalsValue ?? '0'),
  };
}
