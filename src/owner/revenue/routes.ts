import type { Route } from '../../http/shell.ts';
import { movements } from '../../metrics/facts.ts';
import { chartFile } from '../charts/file.ts';
import { tableFile } from '../framework/csv.ts';
import { notFoundPage } from '../message-pages.ts';
import { parseSegment } from '../../metrics/segments/segment.ts';
import type { OwnerParts, Pages, ShopVisit } from '../pages.ts';
import { readSegmentChoices } from '../segments/choices.ts';
import { shopPath } from '../ui/layout.ts';
import { fileOrPage } from '../framework/page.ts';
import { listingPage, parameter, rowsPerPage, rowsPerRead } from '../ui/listing.ts';
import { understood, viewOf } from '../view/view.ts';
import { revenueCharts } from './charts.ts';
import { movedContent, movedFile, movedFilter, readMoved, readMovedTotal } from './moved.ts';
import { lines, signed } from './movements.ts';
import { revenuePage } from './page.ts';
import {
  readRenewing,
  readRenewingTotal,
  renewingContent,
  renewingFile,
  weekOf,
} from './renewing.ts';
import { readRevenue } from './revenue.ts';

const base = '/app/shops/:shopId/revenue';

/** The revenue page of a shop, its tables as files, and the subscriptions behind them. */
export function revenueRoutes(pages: Pages, parts: OwnerParts): Route[] {
  const { store, clock } = parts;
  const segmentView = ({ query }: ShopVisit) => viewOf(query, clock.now(), parseSegment(query));
  return [
    pages.shopPage(base, async (visit) => {
      const view = viewOf(visit.query, clock.now());
      return revenuePage(visit, view, await readRevenue(store, visit.shop, view));
    }),
    pages.shopPage(`${base}.csv`, (visit) =>
      fileOrPage(visit, '/revenue', async () => {
        const { shop, query } = visit;
        const view = understood(viewOf(query, clock.now()));
        const revenue = await readRevenue(store, shop, view);
        if (!revenue) return notFoundPage(visit);
        const name = query.get('table');
        if (name === 'movements') {
          const { whole, wholeBefore: before } = revenue;
          return tableFile({
            shop,
            noun: 'mrr-movements',
            now: view.now,
            heads: ['Change', 'This period', 'Compared with', 'Currency'],
            rows: (['opening', ...movements, 'closing'] as const).map((each) => [
              lines[each].label,
              signed(each, whole),
              before ? signed(each, before) : null,
              shop.currency,
            ]),
          });
        }
        const chart = revenueCharts(visit, view, revenue).find(({ id }) => id === name);
        return chart ? chartFile(visit, chart, view.now) : notFoundPage(visit);
      }),
    ),
    pages.shopPage(`${base}/movements`, (visit) =>
      listingPage(visit, frameOf(visit, 'What changed MRR', '/revenue/movements'), async () => {
        const view = viewOf(visit.query, clock.now());
        const filter = movedFilter(visit);
        const page = { cursor: parameter(visit, 'cursor'), limit: rowsPerPage };
        const [found, total] = await Promise.all([
          readMoved(store, visit.shop, view, filter, page),
          readMovedTotal(store, visit.shop, view, filter),
        ]);
        return movedContent(visit, { ...found, view, filter, total });
      }),
    ),
    pages.shopPage(`${base}/movements.csv`, (visit) =>
      fileOrPage(visit, '/revenue/movements', () => {
        const view = understood(viewOf(visit.query, clock.now()));
        const filter = movedFilter(visit);
        return movedFile(visit.shop, view.now, (cursor) =>
          readMoved(store, visit.shop, view, filter, { cursor, limit: rowsPerRead }),
        );
      }),
    ),
    pages.shopPage(`${base}/renewals`, (visit) =>
      listingPage(visit, frameOf(visit, 'Renewals to come', '/revenue/renewals'), async () => {
        const view = segmentView(visit);
        const week = weekOf(visit, view);
        const page = { cursor: parameter(visit, 'cursor'), limit: rowsPerPage };
        const [found, total, choices] = await Promise.all([
          readRenewing(store, visit.shop, view, week, page),
          readRenewingTotal(store, visit.shop, view, week),
          readSegmentChoices(parts, visit.shop),
        ]);
        return renewingContent(visit, { ...found, view, week, total, choices });
      }),
    ),
    pages.shopPage(`${base}/renewals.csv`, (visit) =>
      fileOrPage(visit, '/revenue/renewals', () => {
        const view = understood(segmentView(visit));
        const week = weekOf(visit, view);
        return renewingFile(visit.shop, view.now, (cursor) =>
          readRenewing(store, visit.shop, view, week, { cursor, limit: rowsPerRead }),
        );
      }),
    ),
  ];
}

function frameOf({ shop }: ShopVisit, title: string, path: string) {
  const breadcrumb = { path: shopPath(shop, '/revenue'), label: 'Revenue' };
  return { title, current: 'revenue', path, breadcrumb } as const;
}
