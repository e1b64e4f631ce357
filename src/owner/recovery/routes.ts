import type { Route } from '../../http/shell.ts';
import { html } from '../../http/html.ts';
import { listClosedCases, listOpenCases } from '../../metrics/recovery/cases.ts';
import { listOutstanding, totalOf } from '../../metrics/recovery/figures.ts';
import { chartAssets } from '../charts/assets.ts';
import { chartFile } from '../csv/charts.ts';
import { notFoundPage } from '../message-pages.ts';
import type { OwnerParts, Pages, ShopVisit } from '../pages.ts';
import { shopPath } from '../ui/layout.ts';
import { listingFile, listingPage, parameter, rowsPerPage, rowsPerRead } from '../ui/listing.ts';
import { formatCount } from '../ui/locale.ts';
import { periodPicker } from '../view/picker.ts';
import { type View, understood, viewOf } from '../view/view.ts';
import { breakdownFile, breakdownsOf } from './breakdown.ts';
import { closedCases, openCases } from './case-tables.ts';
import { recoveryCharts } from './charts.ts';
import { readRecovery } from './figures.ts';
import { closedFile, openFile } from './files.ts';
import {
  afterClosed,
  afterOpen,
  closedCursor,
  closedFilterOf,
  codeOf,
  openCursor,
  orderOf,
} from './filters.ts';
import { emptyRecovery, recoveryContent } from './page.ts';

const base = '/app/shops/:shopId/recovery';
/** Rows of the list that the page itself shows. */
const firstRows = 10;

/** Failed payments: what is outstanding, and what was recovered and lost. */
export function recoveryRoutes(pages: Pages, parts: OwnerParts): Route[] {
  const { store, clock } = parts;
  const nowView = ({ query }: ShopVisit) => viewOf(query, clock.now());

  const listOpen = (visit: ShopVisit, limit: number, cursor?: string) =>
    store.readRecent(visit.shop.id, async ({ analyse }) => {
      const rows = await listOpenCases(analyse, visit.shop.id, {
        order: orderOf(visit),
        code: codeOf(visit),
        after: afterOpen(cursor),
        limit: limit + 1,
        now: clock.now(),
      });
      return pageOf(rows, limit, openCursor);
    });
  const listClosed = (visit: ShopVisit, view: View, limit: number, cursor?: string) =>
    store.readRecent(visit.shop.id, async ({ analyse }) => {
      const rows = await listClosedCases(analyse, visit.shop.id, closedFilterOf(visit, view), {
        after: afterClosed(cursor),
        limit: limit + 1,
      });
      return pageOf(rows, limit, closedCursor);
    });

  return [
    pages.shopPage(base, (visit) => {
      const frame = { title: 'Recovery', current: 'recovery', path: '/recovery' } as const;
      return listingPage(visit, { ...frame, assets: chartAssets }, async () => {
        const view = nowView(visit);
        const [recovery, open] = await Promise.all([
          readRecovery(store, visit.shop, view),
          listOpen(visit, firstRows),
        ]);
        if (!recovery) return emptyRecovery(visit);
        const { outstanding } = recovery;
        const list = openCases(visit, { ...open, nextCursor: null }, outstanding, view.now);
        const all = formatCount(visit, totalOf(outstanding).count);
        const more = html`${list}
          <p><a href="${shopPath(visit.shop, '/recovery/open')}">See all ${all}</a></p>`;
        return recoveryContent(visit, view, recovery, open.nextCursor === null ? list : more);
      });
    }),
    pages.shopPage(`${base}/charts.csv`, (visit) =>
      listingFile(visit, '/recovery', async () => {
        const view = understood(nowView(visit));
        const recovery = await readRecovery(store, visit.shop, view);
        const name = visit.query.get('chart');
        if (!recovery) return notFoundPage(visit);
        const breakdown = breakdownsOf(recovery.closed).find(({ id }) => id === name);
        if (breakdown) return breakdownFile(visit, breakdown, view.now);
        const chart = recoveryCharts(visit, view, recovery).find(({ id }) => id === name);
        return chart ? chartFile(visit, chart, view.now) : notFoundPage(visit);
      }),
    ),
    pages.shopPage(`${base}/open`, (visit) =>
      listingPage(visit, frameOf(visit, 'Outstanding payments', '/recovery/open'), async () => {
        const now = clock.now();
        const [page, outstanding] = await Promise.all([
          listOpen(visit, rowsPerPage, parameter(visit, 'cursor')),
          store.readRecent(visit.shop.id, ({ analyse }) =>
            listOutstanding(analyse, visit.shop.id, now),
          ),
        ]);
        return openCases(visit, page, outstanding, now);
      }),
    ),
    pages.shopPage(`${base}/open.csv`, (visit) =>
      listingFile(visit, '/recovery/open', () =>
        openFile(visit, clock.now(), (cursor) => listOpen(visit, rowsPerRead, cursor)),
      ),
    ),
    pages.shopPage(`${base}/closed`, (visit) =>
      listingPage(
        visit,
        frameOf(visit, 'Recovered and lost payments', '/recovery/closed'),
        async () => {
          const view = nowView(visit);
          const page = await listClosed(visit, view, rowsPerPage, parameter(visit, 'cursor'));
          return html`${periodPicker(visit, view, shopPath(visit.shop, '/recovery/closed'))}
          ${closedCases(visit, view, page)}`;
        },
      ),
    ),
    pages.shopPage(`${base}/closed.csv`, (visit) =>
      listingFile(visit, '/recovery/closed', async () => {
        const view = understood(nowView(visit));
        return closedFile(visit, view.now, (cursor) =>
          listClosed(visit, view, rowsPerRead, cursor),
        );
      }),
    ),
  ];
}

function frameOf({ shop }: ShopVisit, title: string, path: string) {
  const breadcrumb = { path: shopPath(shop, '/recovery'), label: 'Recovery' };
  return { title, current: 'recovery', path, breadcrumb } as const;
}

/** @param found up to limit + 1 rows; the extra one shows that there is a next page */
function pageOf<Row>(found: readonly Row[], limit: number, cursorOf: (row: Row) => string) {
  const rows = found.slice(0, limit);
  const last = rows.at(-1);
  return { rows, nextCursor: last && found.length > limit ? cursorOf(last) : null };
}
