import type { Answer, AnswerBody } from '../../http/answer.ts';
import { type Html, html } from '../../http/html.ts';
import type { CohortMember } from '../../metrics/cohorts.ts';
import type { Shop } from '../../store/shops.ts';
import { csvFile, pagedRows } from '../csv/csv.ts';
import type { ShopVisit } from '../pages.ts';
import { state, statusLabels } from '../ui/labels.ts';
import { shopPath } from '../ui/layout.ts';
import { rowLink } from '../framework/columns.ts';
import { type Column, listing } from '../ui/listing.ts';
import { showDay } from '../ui/times.ts';
import { monthFormat } from './months.ts';
import type { MembersFilter, MembersPage } from './members.ts';

interface Parts extends MembersPage {
  readonly filter: MembersFilter;
  readonly cursor: string | undefined;
  readonly planNames: ReadonlyMap<number, string>;
}

/** The customers of a cohort, or those of them who were kept. */
export function membersContent(visit: ShopVisit, parts: Parts): Html {
  const { filter, planNames, rows, cursor, nextCursor } = parts;
  const path = shopPath(visit.shop, `/cohorts/${filter.month.month}/customers`);
  const { kept, current } = filter;
  const options = {
    ...(kept === undefined ? {} : { [kept]: [`Kept in month ${kept}`] as const }),
    [current]: ['Kept now'] as const,
  };
  return html`<p>
      Customers whose first
      subscription${filter.planId === undefined ? '' : ` of ${planNames.get(filter.planId) ?? 'this plan'}`}
      began in ${monthFormat(visit, 'long')(filter.month.month)}
      (UTC)${kept === undefined ? '' : ` and of whose subscriptions one was active or paused ${endOf(filter)}`}.
    </p>
    ${listing({
      caption: 'Customers of the cohort, the newest first',
      noun: 'customers',
      path,
      query: filter.query,
      filter: { name: 'kept', label: 'Kept', options },
      columns: columnsFor(visit),
      rows,
      cursor,
      nextCursor,
      csv: `${path}.csv`,
      emptyState: html`<h2>No customers</h2>
        <p>No customer’s first subscription began in this month.</p>`,
    })}`;
}

const endOf = ({ kept, current }: MembersFilter) =>
  kept === current ? 'in this month, so far' : `at the end of month ${kept} since`;

function columnsFor(visit: ShopVisit): readonly Column<CohortMember>[] {
  const { shop } = visit;
  return [
    {
      label: 'Customer',
      kind: 'head',
      cell: ({ customerId: id }) => rowLink(shopPath(shop, `/subscriptions?customer=${id}`), id),
    },
    { label: 'First subscription', kind: 'minor', cell: ({ subscriptionId }) => subscriptionId },
    { label: 'Plan', kind: 'name', cell: ({ planName }) => planName },
    { label: 'Now', kind: 'state', cell: ({ status }) => state(statusLabels[status]) },
    { label: 'Began', kind: 'date', cell: ({ createdAt }) => showDay(visit, new Date(createdAt)) },
  ];
}

const heads = ['Customer', 'First subscription', 'Plan', 'Status now', 'Began (UTC)'];

/** @param read a page of the list from a cursor on */
export async function membersFile(
  shop: Shop,
  now: number,
  month: string,
  read: (cursor?: string) => Promise<MembersPage>,
): Promise<Answer<AnswerBody>> {
  const rows = await pagedRows(read, (page) =>
    page.rows.map((row) => [
      row.customerId,
      row.subscriptionId,
      row.planName,
      statusLabels[row.status][0],
      new Date(row.createdAt).toISOString(),
    ]),
  );
  return csvFile({ shop, noun: `customers-of-${month}`, now, heads, rows });
}
