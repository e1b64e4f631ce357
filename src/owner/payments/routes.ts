import type { Route } from '../../http/shell.ts';
import { parseSegment } from '../../metrics/segments/segment.ts';
import type { OwnerParts, Pages, ShopVisit } from '../pages.ts';
import { readSegmentChoices } from '../segments/choices.ts';
import { shopPath } from '../ui/layout.ts';
import { listingFile, listingPage, parameter, rowsPerPage, rowsPerRead } from '../ui/listing.ts';
import { understood, viewOf } from '../view/view.ts';
import { paymentFilter, readPaymentTotals, readPayments } from './list.ts';
import { paymentsContent, paymentsFile } from './page.ts';

const base = '/app/shops/:shopId/payments';

/** The payments and refunds behind revenue and failed payments. */
export function paymentRoutes(pages: Pages, parts: OwnerParts): Route[] {
  const { store, clock } = parts;
  const viewIn = ({ query }: ShopVisit) => viewOf(query, clock.now(), parseSegment(query));
  return [
    pages.shopPage(base, (visit) => {
      const { shop } = visit;
      const frame = {
        title: 'Payments',
        current: 'revenue',
        path: '/payments',
        breadcrumb: { path: shopPath(shop, '/revenue'), label: 'Revenue' },
      } as const;
      return listingPage(visit, frame, async () => {
        const view = viewIn(visit);
        const filter = paymentFilter(visit);
        const page = { cursor: parameter(visit, 'cursor'), limit: rowsPerPage };
        const [found, totals, choices] = await Promise.all([
          readPayments(store, shop, view, filter, page),
          readPaymentTotals(store, shop, view, filter),
          readSegmentChoices(parts, shop),
        ]);
        return paymentsContent(visit, { ...found, view, filter, totals, choices });
      });
    }),
    pages.shopPage(`${base}.csv`, (visit) =>
      listingFile(visit, '/payments', () => {
        const view = understood(viewIn(visit));
        const filter = paymentFilter(visit);
        return paymentsFile(visit.shop, view.now, (cursor) =>
          readPayments(store, visit.shop, view, filter, { cursor, limit: rowsPerRead }),
        );
      }),
    ),
  ];
}
