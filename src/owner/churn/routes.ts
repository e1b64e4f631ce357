import { chartFile } from '../charts/file.ts';
import { tableFile } from '../framework/csv.ts';
import { notFoundPage } from '../message-pages.ts';
import { type OwnerPage, type OwnerParts, type ShopVisit, shopPage } from '../pages.ts';
import { parseSegment } from '../../metrics/segments/segment.ts';
import { readSegmentChoices } from '../segments/choices.ts';
import { fileOrPage } from '../framework/page.ts';
import { understood, viewOf } from '../view/view.ts';
import { chartOf, churnPage } from './page.ts';
import { readChurn } from './read.ts';
import { hasCauses, tablesOf } from './tables.ts';

const base = '/churn';

/** How many subscriptions left, and which. */
export function churnPages(parts: OwnerParts): OwnerPage[] {
  const { store, clock } = parts;
  const viewIn = ({ query }: ShopVisit) => viewOf(query, clock.now(), parseSegment(query));
  return [
    shopPage(base, {
      label: 'Churn',
      navigation: { group: 'Insights', icon: 'churn', isInBar: true },
      async show(visit) {
        const view = viewIn(visit);
        const [churn, choices] = await Promise.all([
          readChurn(store, visit.shop, view),
          readSegmentChoices(parts, visit.shop),
        ]);
        return churnPage(visit, view, choices, churn);
      },
    }),
    shopPage(`${base}.csv`, {
      show: (visit) =>
        fileOrPage(visit, '/churn', async () => {
          const view = understood(viewIn(visit));
          const churn = await readChurn(store, visit.shop, view);
          if (!churn) return notFoundPage(visit);
          const name = visit.query.get('table');
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
    }),
  ];
}
