import type { z } from 'zod';
import { type Html, html } from '../../http/html.ts';
import type { Route } from '../../http/shell.ts';
import type { Summary } from '../../metrics/figures.ts';
import { getMetricsSummary } from '../../operations/get-metrics-summary.ts';
import { listCancellations } from '../../operations/list-cancellations.ts';
import type { cancellationSession } from '../../operations/shapes.ts';
import { listSubscriptionsOfSessions } from '../../store/records/cancellations.ts';
import { ask } from '../ask.ts';
import type { Pages, OwnerParts, ShopVisit } from '../pages.ts';
import { shopPath } from '../ui/layout.ts';
import {
  type Column,
  importCommand,
  listing,
  listingPage,
  parameter,
  rowLink,
  rowsPerPage,
} from '../ui/listing.ts';
import { formatCount, formatShare } from '../ui/locale.ts';
import { showDay, showTime } from '../ui/times.ts';
import { offerLabel, outcomeState, outcomeLabels, reasonLabels } from '../ui/labels.ts';

type CancelFlowSession = z.infer<typeof cancellationSession>;

/** The cancel-flow page of a shop. */
export function cancelFlowRoutes(pages: Pages, parts: OwnerParts): Route[] {
  return [
    pages.shopPage('/app/shops/:shopId/cancel-flow', async (visit) => {
      const { shop } = visit;
      const frame = { title: 'Cancel flow', current: 'cancelFlow', path: '/cancel-flow' } as const;
      return listingPage(visit, frame, async () => {
        const answer = await ask(parts, shop, listCancellations, {
          limit: rowsPerPage,
          outcome: parameter(visit, 'outcome'),
          cursor: parameter(visit, 'cursor'),
        });
        const { cancellations, nextCursor } = answer;
        const ids = cancellations.map(({ sessionId }) => sessionId);
        const [{ summary }, subscriptions] = await Promise.all([
          ask(parts, shop, getMetricsSummary),
          parts.store.readRecent(shop.id, (from) =>
            listSubscriptionsOfSessions(from.cancellations, shop.id, ids),
          ),
        ]);
        return html`${saveRate(visit, summary)}
        ${listing({
          caption: 'Cancel-flow sessions, newest first',
          noun: 'sessions',
          path: shopPath(shop, '/cancel-flow'),
          query: { outcome: parameter(visit, 'outcome') },
          filter: { name: 'outcome', label: 'Outcome', options: outcomeLabels },
          columns: columnsFor(visit, subscriptions),
          rows: cancellations,
          cursor: parameter(visit, 'cursor'),
          nextCursor,
          emptyState: html`<h2>No sessions yet</h2>
            <p>
              Cancel-flow sessions appear here: why a customer wanted to cancel, what they were
              offered, and whether they stayed. To add sessions, import a file:
            </p>
            ${importCommand(visit)}`,
        })}`;
      });
    }),
  ];
}

function saveRate(visit: ShopVisit, summary: Summary): Html {
  const { cancelSessions30d: started, generatedAt } = summary;
  const window = html`in the 30 days before ${showTime(visit, new Date(generatedAt))}`;
  return html`<section class="card figure">
    <h2>Save rate, last 30 days</h2>
    <p class="value">${started === 0 ? '–' : formatShare(visit, summary.saveRate)}</p>
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
    { label: 'Reason', cell: ({ detectedReason }) => reasonLabels[detectedReason] },
    { label: 'Offer', cell: ({ offerType }) => offerLabel(offerType) },
    { label: 'Outcome', kind: 'state', cell: ({ outcome }) => outcomeState(outcome) },
    { label: 'Session', kind: 'number', cell: ({ sessionId }) => sessionId },
    { label: 'Started', cell: ({ createdAt }) => showDay(visit, new Date(createdAt)) },
  ];
}
