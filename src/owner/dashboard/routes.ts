import { parseSegment } from '../../metrics/segments/segment.ts';
import { fileOrPage } from '../framework/page.ts';
import { notFoundPage } from '../message-pages.ts';
import { type OwnerPage, type OwnerParts, shopPage } from '../pages.ts';
import { readSegmentChoices } from '../segments/choices.ts';
import type { Sources } from '../sources/sources.ts';
import { understood, viewOf } from '../view/view.ts';
import { readConcerns } from './attention.ts';
import { readDashboard } from './dashboard.ts';
import { emptyDashboardPage } from './empty-page.ts';
import { overviewFile } from './files.ts';
import { dashboardPage } from './page.ts';

/** The overview of a shop. */
export function overviewPages(parts: OwnerParts, sources: Sources): OwnerPage[] {
  return [
    shopPage('', {
      label: 'Overview',
      navigation: { icon: 'overview', isInBar: true },
      async show(visit) {
        const { shop, query } = visit;
        const view = viewOf(query, parts.clock.now(), parseSegment(query));
        const [data, choices, concerns] = await Promise.all([
          readDashboard(parts.store, shop, view),
          readSegmentChoices(parts, shop),
          readConcerns(parts, shop.id),
        ]);
        return data
          ? dashboardPage(visit, data, choices, concerns)
          : emptyDashboardPage(visit, view, await sources.list(shop.id), concerns);
      },
    }),
    shopPage('/charts.csv', {
      show: (visit) =>
        fileOrPage(visit, '', async () => {
          const { shop, query } = visit;
          const view = understood(viewOf(query, parts.clock.now(), parseSegment(query)));
          const data = await readDashboard(parts.store, shop, view);
          return (data && overviewFile(visit, data)) ?? notFoundPage(visit);
        }),
    }),
  ];
}
