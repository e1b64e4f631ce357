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
import { offerOf, outcomeOf, outcomeWords, reasonWords } from '../ui/labels.ts';

type Session = z.infer<typeof cancellationSession>;

/** What a shop's owners see of its cancel flow. */
export function cancelFlowRoutes(pages: Pages, parts: OwnerParts): Route[] {
  return [
    pages.shops('/app/shops/:shopId/cancel-flow', async (visit) => {
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
          parts.store.readRecent((from) =>
            listSubscriptionsOfSessions(from.cancellations, shop.id, ids),
          ),
        ]);
        return html`${saveRate(visit, summary)}
        ${listing({
          caption: 'Cancel-flow sessions, newest first',
          path: shopPath(shop, '/cancel-flow'),
          narrowed: { outcome: parameter(visit, 'outcome') },
          filter: { name: 'outcome', label: 'Outcome', words: outcomeWords },
          columns: columnsFor(visit, subscriptions),
          rows: cancellations,
          cursor: parameter(visit, 'cursor'),
          nextCursor,
          whereNone: html`<h2>No sessions yet</h2>
            <p>
              Here will be everyone who began to cancel: why, what they were offered, and whether
              they stayed. Sessions come with an import:
            </p>
            ${importCommand(visit)}`,
        })}`;
      });
    }),
  ];
}

function saveRate(visit: ShopVisit, summary: Summary): Html {
  const { cancelSessions30d: began, generatedAt } = summary;
  const window = html`in the 30 × 24 hours before ${showTime(visit, new Date(generatedAt))}`;
  return html`<section class="card figure">
    <h2>Save rate, last 30 days</h2>
    <p class="value">${began === 0 ? '–' : formatShare(visit, summary.saveRate)}</p>
    <p class="quiet">
      ${
        began === 0
          ? html`No session began ${window}.`
          : html`Saved sessions among those that were saved, cancelled or abandoned, of the
            ${formatCount(visit, began)} that began ${window}.`
      }
    </p>
  </section>`;
}

function columnsFor(
  visit: ShopVisit,
  subscriptions: ReadonlyMap<number, number>,
): readonly Column<Session>[] {
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
    { label: 'Reason', cell: ({ detectedReason }) => reasonWords[detectedReason] },
    { label: 'Offer', cell: ({ offerType }) => offerOf(offerType) },
    { label: 'Outcome', kind: 'state', cell: ({ outcome }) => outcomeOf(outcome) },
    { label: 'Session', kind: 'number', cell: ({ sessionId }) => sessionId },
    { label: 'Began', cell: ({ createdAt }) => showDay(visit, new Date(createdAt)) },
  ];
}
