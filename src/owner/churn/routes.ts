import type { Route } from '../../http/shell.ts';
import { listPlanNames } from '../../store/records/plans.ts';
import { chartFile, tableFile } from '../csv/charts.ts';
import { notFoundPage } from '../message-pages.ts';
import type { OwnerParts, Pages, ShopVisit } from '../pages.ts';
import { parseSegment } from '../../metrics/segments/segment.ts';
import { readSegmentChoices } from '../segments/choices.ts';
import { shopPath } from '../ui/layout.ts';
import { listingFile, listingPage, parameter, rowsPerPage, rowsPerRead } from '../ui/listing.ts';
import { understood, viewOf } from '../view/view.ts';
import { leftContent, leftFile } from './left-page.ts';
import { countLeft, leftFilter, readLeft } from './left.ts';
import { chartOf, churnAssets, churnPage } from './page.ts';
import { readChurn } from './read.ts';
import { hasCauses, tablesOf } from './tables.ts';

const base = '/app/shops/:shopId/churn';

/** How many subscriptions left, and which. */
export function churnRoutes(pages: Pages, parts: OwnerParts): Route[] {
  const { store, clock } = parts;
  const viewIn = ({ query }: ShopVisit) => viewOf(query, clock.now(), parseSegment(query));
  return [
    pages.shopPage(base, async (visit) => {
      const view = viewIn(visit);
      const [churn, choices] = await Promise.all([
        readChurn(store, visit.shop, view),
        readSegmentChoices(parts, visit.shop),
      ]);
      return churnPage(visit, view, choices, churn);
    }),
    pages.shopPage(`${base}.csv`, (visit) =>
      listingFile(visit, '/churn', async () => {
        const view = understood(viewIn(visit));
        const churn = await readChurn(store, visit.shop, view);
        if (!churn) return notFoundPage(visit);
        const name = parameter(visit, 'table');
        const chart = chartOf(visit, churn);
        if (name === chart.id) return chartFile(visit, chart, view.now);
        const table = tablesOf(visit, churn).find(({ id }) => id === name);
        if (!table) return notFoundPage(visit);
        return tableFile({
          shop: visit.shop,
          noun: `churn-${table.id}`,
          now: view.now,
          heads: [
            table.heading,
            table.counted,
            ...(hasCauses(table) ? ['Of these, failed payments'] : []),
          ],
          rows: table.rows.map(({ label, count, failed }) => [
            label,
            count,
            ...(failed === undefined ? [] : [failed]),
          ]),
        });
      }),
    ),
    pages.shopPage(`${base}/left`, async (visit) => {
      const { shop } = visit;
      const frame = {
        title: 'Who left',
        current: 'churn',
        path: '/churn/left',
        breadcrumb: { path: shopPath(shop, '/churn'), label: 'Churn' },
        assets: churnAssets,
      } as const;
      return listingPage(visit, frame, async () => {
        const view = viewIn(visit);
        const filter = leftFilter(visit, view);
        const cursor = parameter(visit, 'cursor');
        const [page, count, choices, planNames] = await Promise.all([
          readLeft(store, shop, view, filter, { cursor, limit: rowsPerPage }),
          countLeft(store, shop, view, filter),
          readSegmentChoices(parts, shop),
          store.readRecent(shop.id, ({ analyse }) => listPlanNames(analyse, shop.id)),
        ]);
        return leftContent(visit, { view, filter, cursor, ...page, count, choices, planNames });
      });
    }),
    pages.shopPage(`${base}/left.csv`, (visit) =>
      listingFile(visit, '/churn/left', async () => {
        const view = understood(viewIn(visit));
        const filter = leftFilter(visit, view);
        return leftFile(visit.shop, view.now, (cursor) =>
          readLeft(store, visit.shop, view, filter, { cursor, limit: rowsPerRead }),
        );
      }),
    ),
  ];
}
