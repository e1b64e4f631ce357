import { ServiceError } from '../../errors.ts';
import { listMonths, type Month } from '../../metrics/cohort-rows.ts';
import { type CohortMember, listCohortMembers } from '../../metrics/cohorts.ts';
import { decodeCursor } from '../../operations/cursor.ts';
import type { Store } from '../../store/open.ts';
import type { ShopVisit } from '../pages.ts';
import { type PageOfRows, pageOfRows, parameter } from '../ui/listing.ts';

/** Which customers are listed, as the address says it. */
export interface MembersFilter {
  readonly month: Month;
  readonly planId: number | undefined;
  /** Only those kept at the end of this month since the cohort's own. */
  readonly kept: number | undefined;
  /** The current month, since the cohort's own. */
  readonly current: number;
  /** ISO 8601; now for the current month. */
  readonly keptAt: string | undefined;
  readonly query: Readonly<Record<'plan' | 'kept', string | undefined>>;
}

export type MembersPage = PageOfRows<CohortMember>;

/** The months from one until now. */
function monthsFrom(month: string, now: number): Month[] {
  const [from, until] = [month, new Date(now).toISOString()].map(
    (text) => Number(text.slice(0, 4)) * 12 + Number(text.slice(5, 7)),
  ) as [number, number];
  return until < from ? [] : listMonths({ months: until - from + 1, now });
}

/** Whether a text such as 2026-03 names a month that has begun. */
export function isMonth(text: string, now: number): boolean {
  return /^\d{4}-(?:0[1-9]|1[0-2])$/.test(text) && monthsFrom(text, now).length > 0;
}

/**
 * @param month one that has begun
 * @throws ServiceError invalid
 */
export function membersFilter(visit: ShopVisit, month: string, now: number): MembersFilter {
  const months = monthsFrom(month, now);
  const [plan, kept] = [parameter(visit, 'plan'), parameter(visit, 'kept')];
  if (plan !== undefined && !/^[1-9]\d{0,14}$/.test(plan)) {
    throw new ServiceError('invalid', `“${plan}” is not a plan number. Choose one of the plans.`);
  }
  const last = kept !== undefined && /^\d{1,5}$/.test(kept) ? months[Number(kept)] : undefined;
  if (kept !== undefined && last === undefined) {
    const choices = `Choose one from 0 to ${months.length - 1}.`;
    throw new ServiceError(
      'invalid',
      `“${kept}” is not a month since the cohort’s own. ${choices}`,
    );
  }
  return {
    month: months[0] as Month,
    planId: plan === undefined ? undefined : Number(plan),
    kept: kept === undefined ? undefined : Number(kept),
    current: months.length - 1,
    keptAt: last?.end,
    query: { plan, kept },
  };
}

/** @throws ServiceError invalid, for a cursor of another list */
export async function readMembers(
  store: Store,
  shopId: number,
  { month, planId, keptAt, query }: MembersFilter,
  page: { readonly cursor: string | undefined; readonly limit: number },
): Promise<MembersPage> {
  const listing = `${shopId} customers of ${month.month} ${JSON.stringify(query)}`;
  const after = page.cursor === undefined ? undefined : decodeCursor(listing, page.cursor);
  const found = await store.readRecent(shopId, ({ analyse }) =>
    listCohortMembers(
      analyse,
      shopId,
      { ...month, planId, keptAt },
      { after, limit: page.limit + 1 },
    ),
  );
  return pageOfRows(found, page.limit, listing, ({ createdAt, subscriptionId }) => ({
    createdAt,
    id: subscriptionId,
  }));
}
