import { z } from 'zod';
import * as column from '../framework/columns.ts';
import { ServiceError } from '../../errors.ts';
import { isoTime } from '../../iso-time.ts';
import { html } from '../../http/html.ts';
import {
  type Month,
  type CohortMember,
  type MemberOrder,
  listMonths,
  listCohortMembers,
} from '../../metrics/cohorts.ts';
import { listPlanNames } from '../../store/records/plans.ts';
import { planFilter } from '../framework/address.ts';
import { positionSchema, valueSchema } from '../framework/cursor.ts';
import { type ListVisit, type RowSum, figuresOf, sumRows, valueOrders } from '../framework/list.ts';
import { defineList } from '../framework/define-list.ts';
import type { ShopVisit } from '../pages.ts';
import { statusLabels } from '../ui/labels.ts';
import { monthFormat } from './view.ts';

const memberFilters = {
  plan: planFilter,
  kept: z.string().optional(),
  gone: z.string().optional(),
};

type Visit = ListVisit<typeof memberFilters, MemberOrder>;

const monthIn = ({ params }: Pick<ShopVisit, 'params'>) => params['month'] ?? '';

/**
 * The months from the one in the path until now.
 * @throws ServiceError notFound, unless it has begun
 */
function monthsIn(visit: Pick<ShopVisit, 'params'>, now: number): [Month, ...Month[]] {
  const month = monthIn(visit);
  const [from, until] = [month, new Date(now).toISOString()].map(
    (text) => Number(text.slice(0, 4)) * 12 + Number(text.slice(5, 7)),
  ) as [number, number];
  if (!/^[1-9]\d{3}-(?:0[1-9]|1[0-2])$/.test(month) || until < from) {
    throw new ServiceError('notFound', 'There is no such month.');
  }
  return listMonths({ months: until - from + 1, now }) as [Month, ...Month[]];
}

/**
 * The month, those at whose ends customers were kept and gone, as numbers since it, and the current one.
 * @throws ServiceError notFound or invalid
 */
function cohortIn(visit: Visit) {
  const months = monthsIn(visit, visit.view.now);
  const endOf = (since: string | undefined) => {
    if (since === undefined) return undefined;
    const found = /^\d{1,5}$/.test(since) ? months[Number(since)] : undefined;
    if (found) return found.end;
    const choices = `Choose one from 0 to ${months.length - 1}.`;
    throw new ServiceError(
      'invalid',
      `“${since}” is not a month since the cohort’s own. ${choices}`,
    );
  };
  const { kept, gone } = visit.filters;
  return {
    month: months[0],
    kept: kept === undefined ? undefined : Number(kept),
    gone,
    keptAt: endOf(kept),
    goneAt: endOf(gone),
    current: months.length - 1,
  };
}

interface Summary extends RowSum {
  readonly planNames: ReadonlyMap<number, string>;
}

const readMembers = (visit: Visit, page: Parameters<typeof listCohortMembers>[3]) => {
  const { parts, shop, filters } = visit;
  const { month, keptAt, goneAt } = cohortIn(visit);
  return parts.store.readRecent(shop.id, ({ analyse }) =>
    listCohortMembers(
      analyse,
      shop.id,
      { ...month, planId: filters.plan, keptAt, goneAt, now: isoTime(visit.view.now) },
      page,
    ),
  );
};

/** What the customers come to: by the figures of their cohort, or if these do not have it, by the first rows. */
async function sumMembers(visit: Visit): Promise<RowSum> {
  const { kept, gone, current } = cohortIn(visit);
  const { filters, view } = visit;
  if (filters.plan !== undefined || gone !== undefined) {
    return sumRows(visit, (page) => readMembers(visit, page));
  }
  const [cohort] = await figuresOf(visit, (figures) =>
    figures.cohorts({ months: current + 1, now: view.now }),
  );
  const isOfMonth = cohort?.month === monthIn(visit);
  const count = kept === undefined ? cohort?.customers : cohort?.retained[kept];
  return isOfMonth
    ? { count: count ?? 0, worth: cohort.mrr[kept ?? current] }
    : { count: 0, worth: 0 };
}

/** Whether the list can be sorted by value: only the present value is stored, and only over all plans. */
function hasWorth(visit: Visit): boolean {
  const { kept, current } = cohortIn(visit);
  return visit.filters.plan === undefined && (kept === undefined || kept === current);
}

/** The customers of a cohort, or those of them who were kept. */
export const members = defineList<CohortMember, Summary>()({
  path: '/cohorts/:month/customers',
  title: (visit, now) =>
    `Customers of ${monthFormat(visit, 'long')(monthsIn(visit, now)[0].month)}`,
  parent: '/cohorts',
  noun: 'customers',
  fileNoun: (visit) => `customers-of-${monthIn(visit)}`,
  caption: 'Customers of the cohort',
  pickers: [],
  filters: memberFilters,
  links: {
    name: 'kept',
    label: 'Kept',
    ends: 'gone',
    options: (visit) => {
      const { kept, gone, current } = cohortIn(visit);
      const left = gone === undefined ? '' : `, gone in month ${gone}`;
      return {
        ...(kept === undefined ? {} : { [kept]: [`Kept in month ${kept}${left}`] as const }),
        [current]: ['Kept now'] as const,
      };
    },
  },
  orders: {
    newest: 'The newest first',
    oldest: 'The oldest first',
    ...valueOrders,
  },
  place: positionSchema.extend({ worth: valueSchema, customerId: positionSchema.shape.id }),
  placeOf: ({ createdAt, subscriptionId: id, worth, customerId }) => ({
    createdAt,
    id,
    worth,
    customerId,
  }),
  read: (visit, page) => readMembers(visit, page),
  async summarise(visit) {
    const { parts, shop } = visit;
    const [sum, planNames] = await Promise.all([
      sumMembers(visit),
      parts.store.readRecent(shop.id, ({ analyse }) => listPlanNames(analyse, shop.id)),
    ]);
    return { ...sum, planNames };
  },
  count: (_, { count }) => count,
  head(visit, { planNames }) {
    const { month, kept, gone, current } = cohortIn(visit);
    const { plan } = visit.filters;
    const then = kept === current ? 'in this month, so far' : `at the end of month ${kept} since`;
    const valued = kept === undefined || kept === current ? 'now' : then;
    return html`<p>
      Customers whose first
      subscription${plan === undefined ? '' : ` of ${planNames.get(plan) ?? 'this plan'}`} began in
      ${monthFormat(visit, 'long')(month.month)}
      (UTC)${kept === undefined ? '' : ` and of whose subscriptions one was active or paused ${then}`}${gone !== undefined && `, and none at the end of month ${gone}`}.
      Worth is the MRR of all their subscriptions
      ${valued}.${hasWorth(visit) && ' Sorting by worth goes by what it is once trials have ended.'}
    </p>`;
  },
  columns: (visit: Visit) => [
    column.customerHead,
    column.firstSubscription,
    column.plan,
    column.decimal('Worth', ({ value }) => value, {
      head: 'Value',
      sum: ({ worth }) => worth,
      sort: hasWorth(visit) ? ['lowest', 'highest'] : undefined,
    }),
    column.state('Now', ({ status }) => statusLabels[status], { head: 'Status now' }),
    column.time('Began', ({ createdAt }) => createdAt, { sort: ['oldest', 'newest'] }),
  ],
  empty: {
    title: 'No customers',
    text: 'No customer’s first subscription began in this month.',
  },
});
