import { type Period, day } from '../../metrics/bounds.ts';
import { findFirstDay, findPricesSince } from '../../metrics/history.ts';
import {
  type MovementDay,
  type Movements,
  listMovementDays,
  movementsOf,
  toMovements,
} from '../../metrics/movements.ts';
import { inflows, outflows } from '../../metrics/facts.ts';
import { summariseRetention, toRetention } from '../../metrics/retention.ts';
import { countSubscribers } from '../../metrics/summary.ts';
import { projectRenewals, toProjectedWeeks } from '../../metrics/renewals.ts';
import { listRevenueDays } from '../../metrics/payments.ts';
import { type Ratio, add, subtract, zero } from '../../money.ts';
import type { ReadConnections } from '../../store/connections/read-connections.ts';
import type { Shop } from '../../store/shops.ts';
import { isoDay } from '../view/view.ts';
import type { Chart } from '../charts/chart.ts';
import { overTime, timesOf, seriesOf, unitsOf } from '../charts/series.ts';
import { priceNotes } from '../charts/notes.ts';
import { formatCount, formatMoney, rounded } from '../ui/formats.ts';
import { shopPath } from '../site.ts';
import type { FiguresVisit } from '../framework/page.ts';
import { readPriceChanges } from './prices.ts';

/** What happened to the revenue in some consecutive UTC days; amounts in the shop's currency, each rounded once. */
export interface RevenueSpan {
  readonly movements: Movements;
  /** The sum of what arrived, and of what departed. */
  readonly came: number;
  readonly left: number;
  readonly growth: number;
  /** Payments less refunds. */
  readonly revenue: number;
}

/** A day, exactly. */
interface RevenueDay extends MovementDay {
  readonly revenue: Ratio;
}

export type Revenue = NonNullable<Awaited<ReturnType<typeof readRevenue>>>;

/**
 * Reads what the page shows, as of one instant.
 * @param counting whether net and gross retention are counted; they are without it
 * @returns undefined for a shop without data
 */
export async function readRevenue(visit: FiguresVisit, counting = Promise.resolve(true)) {
  const { shop, view } = visit;
  const { store } = visit.parts;
  const read = <Found>(part: (from: ReadConnections) => Promise<Found>) =>
    store.readRecent(shop.id, part);
  const [firstDay, pricesSince, now, before, weeks, prices] = await Promise.all([
    read(({ analyse }) => findFirstDay(analyse, shop.id)),
    read(({ analyse }) => findPricesSince(analyse, shop.id)),
    read((from) => readPeriod(from, shop, view.period, view.now, counting)),
    read((from) => readPeriod(from, shop, view.before, view.now, counting)),
    read(({ analyse }) => projectRenewals(analyse, shop.id, view.now)),
    readPriceChanges(visit),
  ]);
  if (firstDay === null) return undefined;
  const hasBefore = firstDay <= view.before.from;
  return {
    days: now.days,
    /** The time of the shop's earliest data, epoch milliseconds. */
    firstDay,
    pricesSince,
    before: hasBefore ? before.days : undefined,
    isRetentionCounted: await counting,
    retained: now.retained,
    retainedBefore: hasBefore ? before.retained : undefined,
    /** All days of each together. */
    whole: spanOf(now.days, shop),
    wholeBefore: hasBefore ? spanOf(before.days, shop) : undefined,
    weeks: toProjectedWeeks(weeks, shop.currency),
    prices,
  };
}

/** @param now epoch milliseconds */
async function readPeriod(
  from: ReadConnections,
  shop: Shop,
  period: Period,
  now: number,
  counting: Promise<boolean>,
) {
  const { analyse } = from;
  const reading = readDays(from, shop, period);
  const [days, retained, activeSubscribers] = await Promise.all([
    reading,
    counting.then(async (isCounted) => {
      const movements = reading.then(movementsOf);
      if (!isCounted) return { movements: await movements };
      return summariseRetention(analyse, shop.id, period, movements);
    }),
    countSubscribers(analyse, shop.id, now, period),
  ]);
  return { days, retained: toRetention(retained, activeSubscribers, shop.currency) };
}

async function readDays(
  { analyse }: ReadConnections,
  shop: Shop,
  period: Period,
): Promise<RevenueDay[]> {
  const [days, revenues] = await Promise.all([
    listMovementDays(analyse, shop.id, period),
    listRevenueDays(analyse, shop.id, period),
  ]);
  const byDay = new Map(revenues.map((each) => [each.day, each.revenue]));
  return days.map((each) => ({ ...each, revenue: byDay.get(each.day) ?? zero }));
}

const sum = (values: readonly Ratio[]) => values.reduce(add, zero);

/** @param days consecutive, at least one */
function spanOf(days: readonly RevenueDay[], shop: Pick<Shop, 'currency'>): RevenueSpan {
  const exact = movementsOf(days);
  return {
    movements: toMovements(exact, shop.currency),
    came: rounded(sum(inflows.map((name) => exact[name])), shop),
    left: rounded(sum(outflows.map((name) => exact[name])), shop),
    growth: rounded(subtract(exact.closing, exact.opening), shop),
    revenue: rounded(sum(days.map(({ revenue }) => revenue)), shop),
  };
}

/** The charts of the page, those of the past first. */
export function revenueCharts(visit: FiguresVisit, revenue: Revenue): Chart[] {
  return [...pastCharts(visit, revenue), ...projectionCharts(visit, revenue)];
}

function pastCharts(
  visit: FiguresVisit,
  { days, before, whole, wholeBefore }: Revenue,
): [Chart, Chart, Chart] {
  const { shop } = visit;
  const { amounts } = unitsOf(visit);
  const money = (amount: number) => formatMoney(visit, amount);
  const { spans: groups, frame, span, rows, paired } = overTime(visit, days);
  const spans = groups.map((each) => spanOf(each, shop));
  const spansBefore = before && paired(before).map((each) => each && spanOf(each, shop));
  const per = `Per ${span}, UTC`;
  const notes = priceNotes(
    visit,
    spans.map(({ movements }) => movements),
  );
  const bars = { marks: 'bars', notes, ...frame, ...amounts } as const;
  return [
    {
      id: 'chart-mrr',
      title: 'MRR',
      headline: {
        now: money(whole.movements.closing),
        before: compared(wholeBefore && money(wholeBefore.movements.closing)),
      },
      caption: `At the end of every ${span}, UTC`,
      marks: 'line',
      notes,
      series: [
        seriesOf('MRR', undefined, spans, ({ movements: { closing } }) => closing, spansBefore),
      ],
      hrefs: rows('/revenue/movements'),
      ...frame,
      ...amounts,
    },
    {
      id: 'chart-movements',
      title: 'Came and left',
      headline: {
        now: `${money(whole.came)} came, ${money(whole.left)} left`,
        before: compared(
          wholeBefore && `${money(wholeBefore.came)} and ${money(wholeBefore.left)}`,
        ),
      },
      caption: per,
      series: [
        {
          ...seriesOf('Came', 'kept', spans, ({ came }) => came),
          hrefs: rows('/revenue/movements', { movement: 'came' }),
        },
        {
          ...seriesOf('Left', 'lost', spans, ({ left }) => left),
          hrefs: rows('/revenue/movements', { movement: 'left' }),
        },
      ],
      ...bars,
    },
    {
      id: 'chart-revenue',
      title: 'Revenue',
      headline: {
        now: money(whole.revenue),
        before: compared(wholeBefore && money(wholeBefore.revenue)),
      },
      caption: `${per}. Payments less refunds`,
      series: [seriesOf('Revenue', undefined, spans, (each) => each.revenue, spansBefore)],
      hrefs: rows('/payments'),
      ...bars,
    },
  ];
}

function projectionCharts(visit: FiguresVisit, { weeks }: Revenue): [Chart, Chart] {
  const { counts, amounts } = unitsOf(visit);
  const money = (amount: number) => formatMoney(visit, amount);
  const groups = weeks.map(({ from }) =>
    Array.from({ length: 7 }, (_, index) => ({ day: isoDay(Date.parse(from) + index * day) })),
  );
  const { times } = timesOf(visit, groups, 'week');
  const frame = {
    caption:
      'A projection of active subscriptions by their next billing date, and from there on by their interval: weeks of 7 × 24 hours from now, UTC. Overdue and paused ones are not in it, and cancellations to come are not guessed',
    marks: 'bars',
    initial: 'first',
    times,
    hrefs: weeks.map((_, index) => {
      const path = shopPath(visit.shop, '/revenue/renewals');
      return index === 0 ? path : (`${path}?week=${index + 1}` as const);
    }),
    timeHeading: 'Week from (UTC)',
  } as const;
  const [next] = weeks;
  return [
    {
      id: 'chart-renewals',
      title: 'Renewals to come',
      headline: { now: `${formatCount(visit, next?.renewals ?? 0)} in the next 7 days` },
      series: [seriesOf('Renewals', undefined, weeks, ({ renewals }) => renewals)],
      ...frame,
      ...counts,
    },
    {
      id: 'chart-renewals-value',
      title: 'Their value',
      headline: { now: `${money(next?.value ?? 0)} in the next 7 days` },
      series: [seriesOf('Value', undefined, weeks, ({ value }) => value)],
      ...frame,
      ...amounts,
      caption: `${frame.caption}, at today’s prices`,
    },
  ];
}

const compared = (text: string | undefined) => text && `Compared with ${text}`;
