import { type Html, html } from '../../http/html.ts';
import { totalOf } from '../../metrics/recovery/figures.ts';
import { parseSegment } from '../../metrics/segments/segment.ts';
import { chartAssets } from '../charts/assets.ts';
import { chartFile } from '../charts/file.ts';
import { fileOrPage, ifInvalid, problemOf } from '../framework/page.ts';
import { notFoundPage } from '../message-pages.ts';
import { type OwnerPage, type OwnerParts, type ShopVisit, shopPage } from '../pages.ts';
import { readSegmentChoices } from '../segments/choices.ts';
import { page } from '../ui/answers.ts';
import { layout, shopPath } from '../ui/layout.ts';
import { formatCount } from '../ui/locale.ts';
import { understood, viewOf } from '../view/view.ts';
import { breakdownFile, breakdownsOf } from './breakdown.ts';
import { recoveryCharts } from './charts.ts';
import { readRecovery } from './figures.ts';
import { openCases, openPath, viewOfEnd } from './open.ts';
import { emptyRecovery, recoveryContent } from './page.ts';

const base = '/recovery';
const frame = { title: 'Recovery', assets: chartAssets } as const;
/** Rows of the list that the page itself shows. */
const firstRows = 10;

/** Failed payments: what is outstanding, and what was recovered and lost. */
export function recoveryPages(parts: OwnerParts): OwnerPage[] {
  const { store, clock } = parts;
  const viewIn = ({ query }: ShopVisit) => viewOf(query, clock.now(), parseSegment(query));

  return [
    shopPage(base, {
      label: 'Recovery',
      navigation: { group: 'Insights', icon: 'recovery' },
      show(visit) {
        const { shop } = visit;
        const show = (content: Html, status = 200) =>
          page(layout(visit, { ...frame, content }), status);
        const build = async () => {
          const view = viewIn(visit);
          const reading = readRecovery(store, shop, view);
          const [recovery, open, choices] = await Promise.all([
            reading,
            openCases.preview(parts, visit, {
              view: viewOfEnd(view),
              limit: firstRows,
              summarise: async () => (await reading)?.outstanding ?? [],
            }),
            readSegmentChoices(parts, shop),
          ]);
          if (!recovery) return show(emptyRecovery(visit));
          const all = formatCount(visit, totalOf(recovery.outstanding).count);
          const more = html`${open.content}
            <p><a href="${openPath(visit, view)}">See all ${all}</a></p>`;
          const rows = open.isWhole ? open.content : more;
          return show(recoveryContent(visit, view, choices, recovery, rows));
        };
        return ifInvalid(visit, build, (message) =>
          show(problemOf(message, shopPath(shop, '/recovery')), 400),
        );
      },
    }),
    shopPage(`${base}/charts.csv`, {
      show: (visit) =>
        fileOrPage(visit, '/recovery', async () => {
          const view = understood(viewIn(visit));
          const recovery = await readRecovery(store, visit.shop, view);
          const name = visit.query.get('chart');
          if (!recovery) return notFoundPage(visit);
          const breakdown = breakdownsOf(recovery.closed).find(({ id }) => id === name);
          if (breakdown) return breakdownFile(visit, breakdown, view.now);
          const chart = recoveryCharts(visit, view, recovery).find(({ id }) => id === name);
          return chart ? chartFile(visit, chart, view.now) : notFoundPage(visit);
        }),
    }),
  ];
}
