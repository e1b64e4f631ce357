import type { z } from 'zod';
import { type Html, html } from '../../http/html.ts';
import type { Route } from '../../http/shell.ts';
import { listCancellations } from '../../operations/list-cancellations.ts';
import type { cancellationSession } from '../../operations/shapes.ts';
import { listSubscriptionsOfSessions } from '../../store/records/cancellations.ts';
import { ask } from '../ask.ts';
import { sessionsFile } from '../csv/sessions.ts';
import { type Figures, readFigures } from '../dashboard/dashboard.ts';
import type { Pages, OwnerParts, ShopVisit } from '../pages.ts';
import { shopPath } from '../ui/layout.ts';
import {
  type Column,
  listing,
  listingFile,
  listingPage,
  parameter,
  rowLink,
  rowsPerPage,
  rowsPerRead,
  sourcesLink,
} from '../ui/listing.ts';
import { formatCount, formatShare } from '../ui/locale.ts';
import { showDay, showTime } from '../ui/times.ts';
import { offerLabel, outcomeState, outcomeLabels, reasonLabels } from '../ui/labels.ts';

type CancelFlowSession = z.infer<typeof cancellationSession>;

/** The cancel-flow page of a shop. */
export function cancelFlowRoutes(pages: Pages, parts: OwnerParts): Route[] {
  const list = (visit: ShopVisit, limit: number, cursor: string | undefined) =>
    ask(parts, visit.shop, listCancellations, {
      limit,
      outcome: parameter(visit, 'outcome'),
      cursor,
    });
  return [
    pages.shopPage('/app/shops/:shopId/cancel-flow.csv', (visit) =>
      listingFile(visit, '/cancel-flow', () =>
        sessionsFile(parts, visit, (cursor) => list(visit, rowsPerRead, cursor)),
      ),
    ),
    pages.shopPage('/app/shops/:shopId/cancel-flow', async (visit) => {
      const { shop } = visit;
      const frame = { title: 'Cancel flow', current: 'cancelFlow', path: '/cancel-flow' } as const;
      return listingPage(visit, frame, async () => {
        const cursor = parameter(visit, 'cursor');
        const { cancellations, nextCursor } = await list(visit, rowsPerPage, cursor);
        const ids = cancellations.map(({ sessionId }) => sessionId);
        const [figures, subscriptions] = await parts.store.readRecent(shop.id, (from) =>
          Promise.all([
            readFigures(from, shop, parts.clock.now()),
            listSubscriptionsOfSessions(from.cancellations, shop.id, ids),
          ]),
        );
        return html`${saveRate(visit, figures)}
        ${listing({
          caption: 'Cancel-flow sessions, newest first',
          noun: 'sessions',
          path: shopPath(shop, '/cancel-flow'),
          query: { outcome: parameter(visit, 'outcome') },
          filter: { name: 'outcome', label: 'Outcome', options: outcomeLabels },
          columns: columnsFor(visit, subscriptions),
          rows: cancellations,
          cursor,
          csv: shopPath(shop, '/cancel-flow.csv'),
          nextCursor,
          emptyState: html`<h2>No sessions yet</h2>
            <p>
              Cancel-flow sessions appear here: why a customer wanted to cancel, what they were
              offered, and whether they stayed, once a source brings them.
            </p>
            <p>${sourcesLink(visit)}</p>`,
        })}`;
      });
    }),
  ];
}

function saveRate(visit: ShopVisit, { summary, undefinedFigures }: Figures): Html {
  const { cancelSessions30d: started, generatedAt } = summary;
  const window = html`in the 30 days before ${showTime(visit, new Date(generatedAt))}`;
  return html`<section class="card figure">
    <h2>Save rate, last 30 days</h2>
    <p class="value">
      ${undefinedFigures.has('saveRate') ? '–' : formatShare(visit, summary.saveRate)}
    </p>
    <p class="quiet">
      ${
        started === 0
          ? html`No sessions started ${window}.`
          : html`Saved sessions as a share of those that were saved, cancelled or abandoned.
            ${formatCount(visit, started)} ${started === 1 ? 'session' : 'sessions'} started
            ${window}.`
      }
    </p>
  </section>`;
}

function columnsFor(
  visit: ShopVisit,
  subscriptions: ReadonlyMap<number, number>,
): readonly Column<CancelFlowSession>[] {
  const { shop } = visit;
  const link = (id: number) => rowLink(shopPath(shop, `/subscriptions/${id}`), id);
  return [
    {
      label: 'Subscription',
      kind: 'head',
      cell: ({ sessionId }) => {
        const id = subscriptions.get(sessionId);
        return id === undefined ? html`<span class="quiet">None</span>` : link(id);
      },
    },
    { label: 'Reason', kind: 'name', cell: ({ detectedReason }) => reasonLabels[detectedReason] },
    { label: 'Offer', cell: ({ offerType }) => offerLabel(offerType) },
    { label: 'Outcome', kind: 'state', cell: ({ outcome }) => outcomeState(outcome) },
    { label: 'Session', kind: 'minor', cell: ({ sessionId }) => sessionId },
    {
      label: 'Started',
      kind: 'date',
      cell: ({ createdAt }) => showDay(visit, new Date(createdAt)),
    },
  ];
}
