import { type Html, html } from '../../http/html.ts';
import type { ReasonRow } from '../../metrics/cancel-flow.ts';
import { type Chart } from '../charts/chart.ts';
import { overTime, seriesOf, spansOf, sumOf, unitsOf } from '../charts/series.ts';
import { priceNotes } from '../charts/notes.ts';
import { showShareChange } from '../dashboard/changes.ts';
import { type Exhibit, bar, tableExhibit } from '../framework/exhibits.ts';
import { reasonLabels } from '../ui/labels.ts';
import {
  countFormat,
  countOf,
  formatCount,
  formatRate,
  showTime,
  uncapitalised,
} from '../ui/formats.ts';
import { type View, dataBegins, gapIn, viewPath, daysOf, isoDay } from '../view/view.ts';
import { type Period, seenFrom } from '../../metrics/bounds.ts';
import { toSummary, undefinedFigures } from '../../metrics/figures.ts';
import type { Figures } from '../../metrics/segments/figures.ts';
import type { Store } from '../../store/open.ts';
import type { Shop } from '../../store/shops.ts';
import type { Share } from '../../metrics/significance.ts';
import { listMovementDays, movementsOf, toMovements } from '../../metrics/movements.ts';
import { shopPath } from '../site.ts';
import { emptySubject } from '../framework/empty.ts';
import { whyOf } from '../framework/why.ts';
import { causeLabels } from './left.ts';
import { type FiguresVisit, definePage, periodAndSegment, readPeriods } from '../framework/page.ts';

/** How many subscriptions left, when, why, and which. */
export const churn = definePage({
  path: '/churn',
  title: 'Churn',
  navigation: { group: 'Insights', icon: 'churn', isInBar: true },
  assets: ['charts'],
  pickers: periodAndSegment,
  files: { path: '/churn.csv', by: 'table' },
  read: ({ parts: { store }, shop, view }) => readChurn(store, shop, view),
  answer,
  charts: (visit, data) => [leftOverTime(visit, data)],
  why: whyOf({
    figure: 'churnRate',
    betterWhen: 'lower',
    list: '/churn/left',
    names: { plan: 'left-plan', age: 'left-age' },
  }),
  tables: (visit, data) => [reasonsTable(visit, data)],
  empty: (visit) =>
    emptySubject(visit, {
      title: 'No data yet',
      text: 'Churn appears here: how many subscriptions left, when, why, and which, once a source brings them.',
      answer: '4.1% of subscriptions left, fewer than in the 30 days before.',
      rows: [
        ['Plan', 'At risk', 'Left', 'Rate'],
        ['Coffee, every month', '812', '31', '3.8%'],
        ['Coffee, every 2 weeks', '401', '19', '4.7%'],
      ],
    }),
});

const causes = { cancelled: 'by cancelling', failed: 'through failed payments' } as const;

const totalOf = (days: readonly DayOfChurn[], cause: keyof typeof causes) =>
  days.reduce((total, each) => total + each[cause], 0);

/** The rate, how it changed, and how many left. */
function answer(visit: FiguresVisit, churned: Churn) {
  const { view, shop } = visit;
  const { days, before, firstDay } = churned;
  const list = shopPath(shop, '/churn/left');
  const [cancelled, failed] = [totalOf(days, 'cancelled'), totalOf(days, 'failed')];
  const causeLink = (count: number, cause: keyof typeof causes) =>
    html`<a href="${viewPath(list, view, { cause })}"
      >${formatCount(visit, count)} ${causes[cause]}</a
    >`;
  const leftBefore = before && totalOf(before.days, 'cancelled') + totalOf(before.days, 'failed');
  const yesterday = isoDay(view.now - 86_400_000);
  const day = { range: { from: yesterday, to: yesterday }, segment: view.segment } as const;
  const left = cancelled + failed;
  return {
    text: html`${showRate(visit, churned)}
    ${
      left === 0
        ? 'No subscription left.'
        : html`<a href="${viewPath(list, view)}"
              >${countOf(visit, left, 'subscription left', 'subscriptions left')}</a
            >: ${causeLink(cancelled, 'cancelled')}, ${causeLink(failed, 'failed')}.`
    }`,
    note: html`${
        leftBefore === undefined
          ? `The ${dataBegins(visit, firstDay)}.`
          : `In the period compared with, ${formatCount(visit, leftBefore)} left.`
      } <a href="${viewPath(list, { ...day, comparison: 'before' })}">Who left yesterday</a>. The
      rate is the share of the subscriptions that were active or paused when the period began, or
      became so in it, and have left by its end; those that came back or expired as planned are not
      counted. The overview’s cancellations include subscriptions that had failed before, and
      changes of MRR only those that were active. As of ${showTime(visit, new Date(view.now))}.`,
  };
}

function showRate(visit: FiguresVisit, { rate, before, firstDay }: Churn): Html {
  if (!rate) return html`No subscriptions to lose.`;
  const gap = uncapitalised(gapIn(visit.view.before, firstDay) ?? 'Nothing to compare with');
  const change = before?.rate ? showShareChange(visit, before.rate, rate, 'lower') : gap;
  return html`Churn <bdi>${formatRate(visit, rate)}</bdi>, <small>${change}</small>.`;
}

const countBy = (cause: keyof typeof causes) => sumOf((each: DayOfChurn) => each[cause]);

/** Subscriptions that left, by day or week; each bar leads to the list of them. */
function leftOverTime(visit: FiguresVisit, { days, before, prices }: Churn): Chart {
  const { counts } = unitsOf(visit);
  const held = Math.max(totalOf(days, 'cancelled'), totalOf(days, 'failed'));
  const { spans, frame, span, rows, paired } = overTime(visit, days, held);
  const spansBefore = before && paired(before.days);
  const totals = (of: readonly DayOfChurn[]) =>
    `${counts.format(totalOf(of, 'cancelled'))} ${causes.cancelled}, ${counts.format(totalOf(of, 'failed'))} ${causes.failed}`;
  return {
    id: 'chart-churn',
    title: 'Left over time',
    caption: `Per ${span}, UTC, by when the subscription left`,
    headline: { now: totals(days), before: before && `Before: ${totals(before.days)}` },
    marks: 'bars',
    series: [
      seriesOf(...causeLabels.cancelled, spans, countBy('cancelled'), spansBefore),
      seriesOf(...causeLabels.failed, spans, countBy('failed'), spansBefore),
    ],
    hrefs: rows('/churn/left'),
    notes:
      prices &&
      priceNotes(
        visit,
        spansOf(prices, frame.grains.drawn).map((each) =>
          toMovements(movementsOf(each), visit.shop.currency),
        ),
      ),
    ...frame,
    ...counts,
  };
}

/** Why subscriptions left, as far as the cancel flow knows. */
function reasonsTable(visit: FiguresVisit, { reasons }: Churn): Exhibit {
  const { shop, view } = visit;
  const format = countFormat(visit);
  const rows = reasons
    .filter(({ cancelled }) => cancelled > 0)
    .toSorted((a, b) => b.cancelled - a.cancelled);
  const total = rows.reduce((sum, { cancelled }) => sum + cancelled, 0);
  return tableExhibit<ReasonRow>({
    id: 'reasons',
    noun: 'churn-reasons',
    title: 'Reasons given',
    caption:
      'Detected in the cancel flow: sessions started in the period that ended cancelled. Those who left in another way gave no reason.',
    look: 'parts reasons',
    isWide: true,
    rows,
    none: total === 0 ? 'None in this period.' : undefined,
    columns: [
      {
        label: 'Reason',
        kind: 'head',
        cell: ({ reason }) => reasonLabels[reason],
        href: ({ reason }) =>
          viewPath(shopPath(shop, '/cancel-flow/sessions'), view, { outcome: 'cancelled', reason }),
        file: { Reason: ({ reason }) => reasonLabels[reason] },
      },
      {
        label: '',
        kind: 'bar',
        cell: ({ cancelled }) => bar([{ tone: 'lost', count: cancelled }], rows[0]?.cancelled ?? 1),
      },
      {
        label: 'Sessions',
        cell: ({ cancelled }) => format(cancelled),
        file: { Sessions: ({ cancelled }) => cancelled },
      },
      {
        label: 'Share',
        cell: ({ cancelled: n }) => formatRate(visit, { share: n / total, of: total }),
      },
    ],
  });
}

type DayOfChurn = Awaited<ReturnType<typeof readDays>>[number];
type Churn = NonNullable<Awaited<ReturnType<typeof readChurn>>>;

/** @returns undefined for a shop without data */
export function readChurn(store: Store, shop: Shop, view: View) {
  const { period, before, now } = view;
  return readPeriods(store, shop, view, async (figures, { firstDay, hasBefore }, { analyse }) => {
    const [rate, days, rateBefore, daysBefore, reasons, prices] = await Promise.all([
      readRate(figures, shop, now, period),
      readDays(figures, now, period),
      hasBefore ? readRate(figures, shop, now, before) : undefined,
      hasBefore ? readDays(figures, now, before) : undefined,
      figures.reasons(period),
      view.segment ? undefined : listMovementDays(analyse, shop.id, period),
    ]);
    return {
      rate,
      days,
      firstDay,
      /** The period compared with; undefined if the shop's data begins later. */
      before: daysBefore && { rate: rateBefore, days: daysBefore },
      /** Of the cancel-flow sessions that started in the period. */
      reasons,
      /** When prices changed; not of a segment. */
      prices,
    };
  });
}

/** As seen from the end of the period, like every figure of a period; undefined if there was nothing to lose. */
async function readRate(
  figures: Figures,
  shop: Shop,
  now: number,
  period: Period,
): Promise<Share | undefined> {
  const row = await figures.summary(period, now);
  return undefinedFigures(row).has('churnRate30d')
    ? undefined
    : { share: toSummary(row, shop.currency, period.until).churnRate30d, of: row.atRisk };
}

/** The UTC days of a period; the first and the last may be cut by it. */
async function readDays(figures: Figures, now: number, period: Period) {
  const rows = await figures.churnDays({ ...period, now: seenFrom(period, now) });
  const byDay = new Map(rows.map((row) => [row.day, row]));
  return daysOf(period, (at) => {
    const { cancelled = 0, failed = 0 } = byDay.get(at) ?? {};
    return { cancelled, failed };
  });
}
