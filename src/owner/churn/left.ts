import { z } from 'zod';
import * as column from '../framework/columns.ts';
import {
  type ChurnCause,
  type ChurnedRow,
  type ChurnOrder,
  type ChurnedPage,
  type Window,
  ageBands,
} from '../../metrics/churn.ts';
import { type Tone, reasonLabels } from '../ui/labels.ts';
import { html } from '../../http/html.ts';
import { seenFrom } from '../../metrics/bounds.ts';
import type { Figures } from '../../metrics/segments/figures.ts';
import { listPlanNames } from '../../store/records/plans.ts';
import { choice, dayFilters, planFilter } from '../framework/address.ts';
import { notOneOf } from '../view/choices.ts';
import { positionSchema, valueSchema } from '../framework/cursor.ts';
import { type ListVisit, type RowSum, figuresOf, sumRows, valueOrders } from '../framework/list.ts';
import { countOf } from '../ui/formats.ts';
import { partOf } from '../view/view.ts';
import { showPeriod } from '../view/picker.ts';
import { planOptions } from '../ui/fields.ts';
import { defineList } from '../framework/define-list.ts';

export const causeLabels: Readonly<Record<ChurnCause, readonly [label: string, tone: Tone]>> = {
  cancelled: ['Cancelled', 'lost'],
  failed: ['Failed payments', 'risk'],
};

/** Plan and age when it left: a segment's are those of now. */
const leftFilters = {
  cause: choice('a cause', causeLabels),
  'left-plan': planFilter,
  'left-age': z
    .string()
    .transform((name, context) => {
      const band = ageBands.find((each) => each.name === name);
      if (band) return band;
      const names = ageBands.map((each) => each.name);
      context.addIssue(notOneOf(name, 'an age in days', names));
      return z.NEVER;
    })
    .optional(),
  ...dayFilters,
};

type Visit = ListVisit<typeof leftFilters, ChurnOrder>;

/** As seen from the end of the view's period. */
const windowOf = ({ view: { period, now }, filters: days }: Visit): Window => ({
  ...partOf(period, days),
  now: seenFrom(period, now),
});

const filterOf = ({ filters: { cause, 'left-plan': planId, 'left-age': age } }: Visit) => ({
  cause,
  planId,
  age,
});

interface Summary extends RowSum<number> {
  readonly planNames: ReadonlyMap<number, string>;
}

/** By day, the ledger knows how many: groups are read row by row, as the list by worth is. */
async function countLeft(
  figures: Figures,
  window: Window,
  { cause, planId, age }: Partial<ReturnType<typeof filterOf>>,
): Promise<number> {
  const counts =
    planId === undefined && age === undefined
      ? (await figures.churnDays(window)).flatMap(({ cancelled, failed }) => [
          cause === 'failed' ? 0 : cancelled,
          cause === 'cancelled' ? 0 : failed,
        ])
      : (await figures.churnGroups(window))
          .filter(
            (group) =>
              (cause === undefined || group.cause === cause) &&
              (planId === undefined || group.planId === planId) &&
              (age === undefined || group.age === age),
          )
          .map((group) => group.count);
  return counts.reduce((total, each) => total + each, 0);
}

/** How many left in a window, and what they were worth a month. */
export const sumLeft = (
  visit: Parameters<typeof figuresOf>[0],
  window: Window,
  { cause, planId, age }: Partial<ReturnType<typeof filterOf>> = {},
): Promise<RowSum<number>> =>
  figuresOf(visit, async (figures) => {
    const count = await countLeft(figures, window, { cause, planId, age });
    const read = (page: Pick<ChurnedPage, 'after' | 'limit'>) =>
      figures.churned(window, { cause, planId, age, ...page });
    return { ...(await sumRows(visit, read, count)), count };
  });

/** The reason given in the cancel flow, or else the cause. */
function reasonOf({ cause, reason }: ChurnedRow): readonly [word: string, tone: Tone] {
  const [word, tone] = causeLabels[cause];
  if (cause === 'failed') return [word, tone];
  return [reason === null ? 'No reason given' : reasonLabels[reason], tone];
}

/** The subscriptions that left in a period and are not back. */
export const left = defineList<ChurnedRow, Summary>()({
  path: '/churn/left',
  title: 'Who left',
  label: 'Who left',
  parent: '/churn',
  noun: 'subscriptions',
  fileNoun: 'left',
  caption: 'Subscriptions that left',
  pickers: ['period', 'segment'],
  filters: leftFilters,
  links: { name: 'cause', label: 'Cause', options: causeLabels },
  selects: [
    {
      name: 'left-plan',
      label: 'Plan',
      none: 'All',
      options: ({ planNames }) => planOptions(planNames),
    },
    {
      name: 'left-age',
      label: 'Age when it left',
      none: 'All',
      options: () => ageBands.map(({ name, label }) => [name, label]),
    },
  ],
  orders: {
    newest: 'The last to leave first',
    oldest: 'The first to leave first',
    longest: 'Highest age first',
    shortest: 'Lowest age first',
    ...valueOrders,
  },
  place: positionSchema.extend({ ageDays: z.int32().min(0), value: valueSchema }),
  placeOf: ({ leftAt, subscriptionId, ageDays, value }) => ({
    createdAt: leftAt,
    id: subscriptionId,
    ageDays,
    value,
  }),
  read: (visit, page) =>
    figuresOf(visit, (figures) =>
      figures.churned(windowOf(visit), { ...page, ...filterOf(visit) }),
    ),
  async summarise(visit) {
    const [sum, planNames] = await Promise.all([
      sumLeft(visit, windowOf(visit), filterOf(visit)),
      visit.parts.store.readRecent(visit.shop.id, ({ analyse }) =>
        listPlanNames(analyse, visit.shop.id),
      ),
    ]);
    return { ...sum, planNames };
  },
  count: (_, { count }) => count,
  head: (visit, { count, worth }) =>
    html`<p>
      <strong>${countOf(visit, count, 'subscription')}</strong>
      left
      ${showPeriod(visit, windowOf(visit))}${worth !== undefined && html`, worth <strong>${column.showMoney(visit, worth)}</strong> a month`}.
      Times are in UTC.
    </p>`,
  columns: [
    column.customerHead,
    column.itsSubscription,
    column.numberedPlan,
    column.state('Reason', reasonOf, {
      file: {
        Cause: ({ cause }) => causeLabels[cause][0],
        Reason: ({ reason }) => reason && reasonLabels[reason],
      },
    }),
    column.decimal('Worth', ({ value }) => value, {
      head: 'Worth a month',
      sum: ({ worth }) => worth,
      sort: ['lowest', 'highest'],
    }),
    {
      label: 'Age',
      kind: 'minor',
      cell: ({ ageDays }, visit) => countOf(visit, ageDays, 'day'),
      file: { 'Age in days': ({ ageDays }) => ageDays },
      sort: ['shortest', 'longest'],
    },
    column.time('Left', ({ leftAt }) => leftAt, { sort: ['oldest', 'newest'] }),
  ],
  empty: {
    title: 'No subscription left',
    text: 'None was cancelled or failed in this period, or all of them are back.',
  },
});
