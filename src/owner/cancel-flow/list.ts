import { z } from 'zod';
import { ServiceError } from '../../errors.ts';
import { type Html, html } from '../../http/html.ts';
import { decodeCursor, pageOf } from '../../operations/cursor.ts';
import { cursor, oneOf } from '../../operations/parameters.ts';
import type { cancellationPage, cancellationSession } from '../../operations/shapes.ts';
import type { SessionFilter } from '../../store/records/cancellations.ts';
import { readFigures } from '../../metrics/segments/figures.ts';
import type { Store } from '../../store/open.ts';
import type { Shop } from '../../store/shops.ts';
import { detectedReasons, offerTypes, sessionOutcomes } from '../../vocabulary.ts';
import type { ShopVisit } from '../pages.ts';
import type { SegmentChoices } from '../segments/choices.ts';
import { segmentPicker } from '../segments/picker.ts';
import { offerLabel, outcomeLabels, outcomeState, reasonLabels } from '../ui/labels.ts';
import { shopPath } from '../ui/layout.ts';
import { rowLink } from '../framework/columns.ts';
import { type Column, listing, parameter, sourcesLink } from '../ui/listing.ts';
import { formatCount } from '../ui/locale.ts';
import { showDay } from '../ui/times.ts';
import { type Days, daysIn, partOf } from '../view/days.ts';
import { periodPicker, showPeriod } from '../view/picker.ts';
import { selectField } from '../view/select.ts';
import { type View, selectionOf, viewQuery } from '../view/view.ts';

type SessionsPage = z.infer<typeof cancellationPage>;
type CancelFlowSession = z.infer<typeof cancellationSession>;

const schema = z.object({
  outcome: oneOf('outcome', [...sessionOutcomes, 'in_progress', 'ended']).optional(),
  reason: oneOf('reason', detectedReasons).optional(),
  offer: oneOf('offer', [...offerTypes, 'none']).optional(),
  cursor: cursor.optional(),
});

/** What the page's address says of the list, apart from its view. */
export type ListQuery = z.infer<typeof schema> & Days;

/** @throws ServiceError invalid, with the API's messages */
export function listQuery(visit: ShopVisit): ListQuery {
  const texts = Object.fromEntries(
    Object.keys(schema.shape).map((name) => [name, parameter(visit, name)]),
  );
  const parsed = schema.safeParse(texts);
  if (parsed.success) return { ...parsed.data, ...daysIn(visit) };
  throw new ServiceError('invalid', parsed.error.issues.map(({ message }) => message).join(' '));
}

/**
 * A page of the sessions that began in the period, in the format of the API's list; the API itself filters by outcome
 * only.
 * @throws ServiceError invalid, for a cursor of another list
 */
export async function readSessions(
  store: Store,
  shop: Shop,
  view: View,
  query: ListQuery,
  limit: number,
): Promise<SessionsPage> {
  const { cursor: from, outcome, reason, offer, first, last } = query;
  // Not the instants: a period that ends now has others on each page.
  const filters = [viewQuery(view), outcome, reason, offer, first, last].join(' ');
  const listed = `${shop.id} sessions ${filters}`;
  const after = from === undefined ? undefined : decodeCursor(listed, from);
  const found = await store.readRecent(shop.id, (connections) =>
    readFigures(connections, shop, selectionOf(view), (figures) =>
      figures.sessions(
        { outcomes: outcomesOf(query), reason, offer, ...partOf(view.period, query) },
        { after, limit: limit + 1 },
      ),
    ),
  );
  return JSON.parse(pageOf('cancellations', listed, found, limit, 'sessionId').text);
}

function outcomesOf({ outcome }: ListQuery): SessionFilter['outcomes'] {
  if (outcome === 'ended') return sessionOutcomes;
  return outcome === undefined ? undefined : [outcome];
}

/** How many there are on all pages. */
export async function countListed(
  store: Store,
  shop: Shop,
  view: View,
  query: ListQuery,
): Promise<number> {
  const counts = await store.readRecent(shop.id, (connections) =>
    readFigures(connections, shop, selectionOf(view), (figures) =>
      figures.sessionCounts(partOf(view.period, query)),
    ),
  );
  const { reason, offer } = query;
  const outcomes = outcomesOf(query);
  return counts
    .filter(
      (each) =>
        (outcomes === undefined || outcomes.includes(each.outcome ?? 'in_progress')) &&
        (reason === undefined || each.reason === reason) &&
        (offer === undefined || (each.offer ?? 'none') === offer),
    )
    .reduce((total, { sessions }) => total + sessions, 0);
}

const outcomeOptions = {
  ended: ['Ended'],
  ...outcomeLabels,
  in_progress: ['In progress'],
} as const;

interface Listed extends SessionsPage {
  readonly view: View;
  readonly query: ListQuery;
  /** On all pages. */
  readonly count: number;
  readonly choices: SegmentChoices;
  /** By session. */
  readonly subscriptions: ReadonlyMap<number, number>;
}

/** The list, with links and a form that filter it. */
export function sessionsList(visit: ShopVisit, listed: Listed): Html {
  const { view, query, count, choices, subscriptions, cancellations, nextCursor } = listed;
  const { cursor: from, ...filters } = query;
  const path = shopPath(visit.shop, '/cancel-flow/sessions');
  return html`${periodPicker(visit, view, path)}
    ${segmentPicker(visit, view.segment, choices, path)}
    <p>
      <strong>${formatCount(visit, count)} ${count === 1 ? 'session' : 'sessions'}</strong>
      began ${showPeriod(visit, partOf(view.period, query))}. Times are in UTC.
    </p>
    ${listing({
      caption: 'Cancel-flow sessions, newest first',
      noun: 'sessions',
      path,
      query: { ...Object.fromEntries(viewQuery(view)), ...filters },
      filter: { name: 'outcome', label: 'Outcome', options: outcomeOptions },
      lookups: filterForm(visit, view, filters),
      columns: columnsFor(visit, subscriptions),
      rows: cancellations,
      cursor: from,
      csv: `${path}.csv`,
      nextCursor,
      emptyState: html`<h2>No sessions in the last 30 days</h2>
        <p>
          Choose a longer period above. Cancel-flow sessions appear here once a source brings them:
          why a customer wanted to cancel, what they were offered, and whether they stayed.
        </p>
        <p>${sourcesLink(visit)}</p>`,
    })}`;
}

function filterForm(visit: ShopVisit, view: View, filters: Omit<ListQuery, 'cursor'>): Html {
  const { outcome, first, last } = filters;
  const hidden = [...viewQuery(view), ...Object.entries({ outcome, first, last })].filter(
    ([, value]) => value,
  );
  return html`<form
    class="choose"
    method="get"
    action="${shopPath(visit.shop, '/cancel-flow/sessions')}"
  >
    ${hidden.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`)}
    ${selectField({
      name: 'reason',
      label: 'Reason',
      none: 'Any',
      selected: filters.reason,
      options: detectedReasons.map((each) => [each, reasonLabels[each]]),
    })}
    ${selectField({
      name: 'offer',
      label: 'Offer',
      none: 'Any',
      selected: filters.offer,
      options: [
        ...offerTypes.map((each) => [each, offerLabel(each)] as const),
        ['none', offerLabel(null)],
      ],
    })}
    <button class="plain">Filter</button>
  </form>`;
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
