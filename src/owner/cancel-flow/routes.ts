import { chartFile } from '../charts/file.ts';
import { tableFile } from '../framework/csv.ts';
import { notFoundPage } from '../message-pages.ts';
import { type OwnerPage, type OwnerParts, type ShopVisit, shopPage } from '../pages.ts';
import { parseSegment } from '../../metrics/segments/segment.ts';
import { readSegmentChoices } from '../segments/choices.ts';
import { fileOrPage } from '../framework/page.ts';
import { understood, viewOf } from '../view/view.ts';
import { flowCharts } from './charts.ts';
import { readFlow } from './flow.ts';
import { matrixCells } from './matrix.ts';
import { flowPage } from './page.ts';

const base = '/cancel-flow';

/** The cancel-flow page of a shop and its tables as files. */
export function cancelFlowPages(parts: OwnerParts): OwnerPage[] {
  const { store, clock } = parts;
  const viewIn = ({ query }: ShopVisit) => viewOf(query, clock.now(), parseSegment(query));
  return [
    shopPage(base, {
      label: 'Cancel flow',
      navigation: { group: 'Insights', icon: 'cancelFlow' },
      async show(visit) {
        const view = viewIn(visit);
        const [flow, choices] = await Promise.all([
          readFlow(store, visit.shop, view),
          readSegmentChoices(parts, visit.shop),
        ]);
        return flowPage(visit, view, choices, flow);
      },
    }),
    shopPage(`${base}.csv`, {
      show: (visit) =>
        fileOrPage(visit, '/cancel-flow', async () => {
          const { shop, query } = visit;
          const view = understood(viewIn(visit));
          const flow = await readFlow(store, shop, view);
          if (!flow) return notFoundPage(visit);
          const name = query.get('table');
          if (name === 'matrix') {
            return tableFile({
              shop,
              noun: 'save-rates',
              now: view.now,
              heads: ['Reason', 'Offer', 'Sessions ended', 'Saved', 'Save rate'],
              rows: matrixCells(flow),
            });
          }
          const chart = flowCharts(visit, view, flow).find(({ id }) => id === name);
          return chart ? chartFile(visit, chart, view.now) : notFoundPage(visit);
        }),
    }),
  ];
}
