import type { Route } from '../../http/shell.ts';
import { html } from '../../http/html.ts';
import { totalOf } from '../../metrics/recovery/figures.ts';
import { type Figures, readFigures } from '../../metrics/segments/figures.ts';
import { parseSegment } from '../../metrics/segments/segment.ts';
import { chartAssets } from '../charts/assets.ts';
import { chartFile } from '../charts/file.ts';
import { notFoundPage } from '../message-pages.ts';
import { readSegmentChoices } from '../segments/choices.ts';
import type { OwnerParts, Pages, ShopVisit } from '../pages.ts';
import { shopPath } from '../ui/layout.ts';
import { fileOrPage } from '../framework/page.ts';
import { listingPage, parameter, rowsPerPage, rowsPerRead } from '../ui/listing.ts';
import { formatCount } from '../ui/locale.ts';
import { type View, selectionOf, understood, viewOf } from '../view/view.ts';
import { breakdownFile, breakdownsOf } from './breakdown.ts';
import { closedCases, openCases } from './case-tables.ts';
import { recoveryCharts } from './charts.ts';
import { readRecovery } from './figures.ts';
import { closedFile, openFile } from './files.ts';
import { closedHead, openHead } from './heads.ts';
import { type Outstanding, openPath, outstandingIn } from './outstanding.ts';
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
  const viewIn = ({ query }: ShopVisit) => viewOf(query, clock.now(), parseSegment(query));

  const read = <Result>(
    visit: ShopVisit,
    view: View,
    work: (figures: Figures) => Promise<Result>,
  ): Promise<Result> =>
    store.readRecent(visit.shop.id, (from) =>
      readFigures(from, visit.shop, selectionOf(view), work),
    );
  const listOpen = async (
    visit: ShopVisit,
    { view, at }: Outstanding,
    limit: number,
    cursor?: string,
  ) => {
    const filter = { order: orderOf(visit), code: codeOf(visit), at, now: view.now };
    const page = { after: afterOpen(cursor), limit: limit + 1 };
    const rows = await read(visit, view, (figures) => figures.openCases({ ...filter, ...page }));
    return pageOf(rows, limit, openCursor);
  };
  const listClosed = async (visit: ShopVisit, view: View, limit: number, cursor?: string) => {
    const page = { after: afterClosed(cursor), limit: limit + 1 };
    const filter = closedFilterOf(visit, view);
    const rows = await read(visit, view, (figures) => figures.closedCases(filter, page));
    return pageOf(rows, limit, closedCursor);
  };

  return [
    pages.shopPage(base, (visit) => {
      const frame = { title: 'Recovery', current: 'recovery', path: '/recovery' } as const;
      return listingPage(visit, { ...frame, assets: chartAssets }, async () => {
        const view = viewIn(visit);
        const then = outstandingIn(view);
        const [recovery, open, choices] = await Promise.all([
          readRecovery(store, visit.shop, view),
          listOpen(visit, then, firstRows),
          readSegmentChoices(parts, visit.shop),
        ]);
        if (!recovery) return emptyRecovery(visit);
        const { outstanding } = recovery;
        const list = openCases(visit, { ...open, nextCursor: null }, outstanding, then);
        const all = formatCount(visit, totalOf(outstanding).count);
        const more = html`${list}
          <p><a href="${openPath(visit, view)}">See all ${all}</a></p>`;
        const rows = open.nextCursor === null ? list : more;
        return recoveryContent(visit, view, choices, recovery, rows);
      });
    }),
    pages.shopPage(`${base}/charts.csv`, (visit) =>
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
    ),
    pages.shopPage(`${base}/open`, (visit) =>
      listingPage(visit, frameOf(visit, 'Outstanding payments', '/recovery/open'), async () => {
        const then = outstandingIn(understood(viewIn(visit)));
        const [page, outstanding, choices] = await Promise.all([
          listOpen(visit, then, rowsPerPage, parameter(visit, 'cursor')),
          read(visit, then.view, (figures) => figures.outstanding(then.at)),
          readSegmentChoices(parts, visit.shop),
        ]);
        return html`${openHead(visit, then, choices, outstanding)}
        ${openCases(visit, page, outstanding, then)}`;
      }),
    ),
    pages.shopPage(`${base}/open.csv`, (visit) =>
      fileOrPage(visit, '/recovery/open', async () => {
        const then = outstandingIn(understood(viewIn(visit)));
        return openFile(visit, then.view.now, (cursor) =>
          listOpen(visit, then, rowsPerRead, cursor),
        );
      }),
    ),
    pages.shopPage(`${base}/closed`, (visit) =>
      listingPage(
        visit,
        frameOf(visit, 'Recovered and lost payments', '/recovery/closed'),
        async () => {
          const view = viewIn(visit);
          const [page, closed, choices] = await Promise.all([
            listClosed(visit, view, rowsPerPage, parameter(visit, 'cursor')),
            read(visit, view, (figures) => figures.closed(closedFilterOf(visit, view))),
            readSegmentChoices(parts, visit.shop),
          ]);
          return html`${closedHead(visit, view, choices, closed)} ${closedCases(visit, view, page)}`;
        },
      ),
    ),
    pages.shopPage(`${base}/closed.csv`, (visit) =>
      fileOrPage(visit, '/recovery/closed', async () => {
        const view = understood(viewIn(visit));
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
