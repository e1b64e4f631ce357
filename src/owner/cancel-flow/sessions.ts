import * as column from '../framework/columns.ts';
import { html } from '../../http/html.ts';
import type { SessionFilter, SessionRow } from '../../store/records/cancellations.ts';
import { isByValue } from '../../store/records/subscriptions.ts';
import { type SessionOutcome, offerTypes, sessionOutcomes } from '../../vocabulary.ts';
import { choice, dayFilters } from '../framework/address.ts';
import { positionSchema, valueSchema } from '../framework/cursor.ts';
import {
  type ListVisit,
  type RowSum,
  figuresOf,
  rowsByWorth,
  sumRows,
  timeOrders,
  valueOrders,
} from '../framework/list.ts';
import { offerLabel, outcomeLabels, outcomeState, reasonLabels } from '../ui/labels.ts';
import { countOf } from '../ui/formats.ts';
import { partOf } from '../view/view.ts';
import { showPeriod } from '../view/picker.ts';
import { defineList } from '../framework/define-list.ts';

const sessionFilters = {
  outcome: choice('an outcome', [...sessionOutcomes, 'in_progress', 'ended']),
  reason: choice('a reason', reasonLabels),
  offer: choice('an offer', [...offerTypes, 'none']),
  ...dayFilters,
};

type Order = keyof typeof timeOrders | keyof typeof valueOrders;
type Visit = ListVisit<typeof sessionFilters, Order>;
type Outcome = SessionOutcome | 'in_progress';

const windowOf = ({ view: { period }, filters }: Visit) => partOf(period, filters);

/** Undefined for all. */
function outcomesOf({ filters: { outcome } }: Visit): readonly Outcome[] | undefined {
  if (outcome === 'ended') return sessionOutcomes;
  return outcome === undefined ? undefined : [outcome];
}

const filterOf = (visit: Visit): SessionFilter => {
  const { reason, offer } = visit.filters;
  return { ...windowOf(visit), reason, offer, outcomes: outcomesOf(visit) };
};

/** What has no subscription is worth nothing. */
const placeOf = ({ createdAt, sessionId, value }: SessionRow) => ({
  createdAt,
  id: sessionId,
  value: value ?? '0',
});

/** The cancel-flow sessions that began in a period. */
export const sessions = defineList<SessionRow, RowSum<number>>()({
  path: '/cancel-flow/sessions',
  title: 'Sessions',
  label: 'Cancel-flow sessions',
  parent: '/cancel-flow',
  noun: 'sessions',
  fileNoun: 'cancel-flow',
  caption: 'Cancel-flow sessions',
  pickers: ['period', 'segment'],
  filters: sessionFilters,
  links: {
    name: 'outcome',
    label: 'Outcome',
    options: { ended: ['Ended'], ...outcomeLabels, in_progress: outcomeState(null) },
  },
  selects: [
    { name: 'reason', label: 'Reason', none: 'Any', options: () => Object.entries(reasonLabels) },
    {
      name: 'offer',
      label: 'Offer',
      none: 'Any',
      options: () => [
        ...offerTypes.map((each) => [each, offerLabel(each)] as const),
        ['none', offerLabel(null)],
      ],
    },
  ],
  orders: { ...timeOrders, ...valueOrders },
  canSort: ({ worth }, order) => worth !== undefined || !isByValue(order),
  place: positionSchema.extend({ value: valueSchema }),
  placeOf,
  read: (visit, { order, ...page }) =>
    figuresOf(visit, (figures) => {
      const filter = filterOf(visit);
      if (!isByValue(order)) return figures.sessions(filter, { order, ...page });
      const read = (limit: number) => figures.sessions(filter, { after: undefined, limit });
      return rowsByWorth(read, { order, ...page }, placeOf);
    }),
  summarise: (visit) =>
    figuresOf(visit, async (figures) => {
      const filter = filterOf(visit);
      const { outcomes, reason, offer } = filter;
      const count = (await figures.sessionCounts(windowOf(visit)))
        .filter(
          (each) =>
            (outcomes === undefined || outcomes.includes(each.outcome ?? 'in_progress')) &&
            (reason === undefined || each.reason === reason) &&
            (offer === undefined || (each.offer ?? 'none') === offer),
        )
        .reduce((total, each) => total + each.sessions, 0);
      return { ...(await sumRows(visit, (page) => figures.sessions(filter, page), count)), count };
    }),
  count: (_, { count }) => count,
  head: (visit, { count }) =>
    html`<p>
      <strong>${countOf(visit, count, 'session')}</strong>
      began ${showPeriod(visit, windowOf(visit))}. Times are in UTC.
    </p>`,
  columns: [
    column.subscription,
    column.text('Reason', ({ detectedReason }) => reasonLabels[detectedReason], { kind: 'name' }),
    column.text('Offer', ({ offerType }) => offerLabel(offerType), { kind: 'minor' }),
    column.state('Outcome', ({ outcome }) => outcomeState(outcome)),
    column.decimal('Worth', ({ value }) => value, {
      head: 'Worth a month',
      sum: ({ worth }) => worth,
      sort: ['lowest', 'highest'],
    }),
    column.text('Session', ({ sessionId }) => sessionId, { kind: 'minor' }),
    column.time('Started', ({ createdAt }) => createdAt, { sort: ['oldest', 'newest'] }),
  ],
  empty: {
    title: 'No sessions in the last 30 days',
    text: 'Choose a longer period above. Cancel-flow sessions appear here once a source brings them: why a customer wanted to cancel, what they were offered, and whether they stayed.',
    isOfSource: true,
  },
});
