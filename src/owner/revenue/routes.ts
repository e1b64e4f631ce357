import { movements } from '../../metrics/facts.ts';
import { chartFile } from '../charts/file.ts';
import { tableFile } from '../framework/csv.ts';
import { notFoundPage } from '../message-pages.ts';
import { type OwnerPage, type OwnerParts, shopPage } from '../pages.ts';
import { fileOrPage } from '../framework/page.ts';
import { understood, viewOf } from '../view/view.ts';
import { revenueCharts } from './charts.ts';
import { lines, signed } from './movements.ts';
import { revenuePage } from './page.ts';
import { readRevenue } from './revenue.ts';

const base = '/revenue';

/** The revenue page of a shop and its tables as files. */
export function revenuePages(parts: OwnerParts): OwnerPage[] {
  const { store, clock } = parts;
  return [
    shopPage(base, {
      label: 'Revenue',
      navigation: { group: 'Insights', icon: 'revenue', isInBar: true },
      async show(visit) {
        const view = viewOf(visit.query, clock.now());
        return revenuePage(visit, view, await readRevenue(store, visit.shop, view));
      },
    }),
    shopPage(`${base}.csv`, {
      show: (visit) =>
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
    }),
  ];
}
