import { type Html, html } from '../../http/html.ts';
import { type ChurnGroup, ageBands } from '../../metrics/churn.ts';
import { type Chart } from '../charts/chart.ts';
import { overTime, spansOf, seriesOf, sumOf, unitsOf } from '../charts/series.ts';
import { showShareChange } from '../dashboard/changes.ts';
import { type Exhibit, bar, chartExhibit, tableExhibit } from '../framework/exhibits.ts';
import type { ShopVisit } from '../pages.ts';
import { reasonLabels } from '../ui/labels.ts';
import { countFormat, countOf, formatCount, formatShare, showTime } from '../ui/formats.ts';
import { type View, dataBegins, gapIn, viewPath, daysOf, isoDay } from '../view/view.ts';
import { type Period, seenFrom } from '../../metrics/bounds.ts';
import { toSummary, undefinedFigures } from '../../metrics/figures.ts';
import type { Figures } from '../../metrics/segments/figures.ts';
import type { Store } from '../../store/open.ts';
import { listPlanNames } from '../../store/records/plans.ts';
import type { Shop } from '../../store/shops.ts';
import type { Share } from '../../metrics/significance.ts';
import { shopPath } from '../site.ts';
import { type FiguresVisit, definePage, periodAndSegment, readPeriods } from '../framework/page.ts';
import { emptySubject } from '../framework/empty.ts';

/** How many subscriptions left, when, why, and which. */
export const churn = definePage({
  path: '/churn',
  title: 'Churn',
  navigation: { group: 'Insights', icon: 'churn', isInBar: true },
  assets: ['charts', 'churn'],
  pickers: periodAndSegment,
  files: { path: '/churn.csv', by: 'table' },
  read: ({ parts: { store }, shop, view }) => readChurn(store, shop, view),
  answer,
  exhibits: (visit, data) => [
    chartExhibit(visit.shop, leftOverTime(visit, data)),
    ...tables(visit, data),
  ],
  body: (_visit, _data, [chart, plans, ...others]) =>
    html`<div class="grid">
      <div class="wide">${chart}</div>
      ${plans}
      <div class="stack">${others}</div>
    </div>`,
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

const causes = {
  cancelled: 'cancelled by the customer',
  failed: 'lost to failed payments',
} as const;

const totalOf = (days: readonly DayOfChurn[], cause: keyof typeof causes) =>
  days.reduce((total, each) => total + each[cause], 0);

/** The rate, how it changed, and how many left. */
function answer(visit: FiguresVisit, churned: Churn): Html {
  const { view, shop } = visit;
  const { rate, days, before, firstDay } = churned;
  const list = shopPath(shop, '/churn/left');
  const [cancelled, failed] = [totalOf(days, 'cancelled'), totalOf(days, 'failed')];
  const causeLink = (count: number, cause: keyof typeof causes) =>
    html`<a href="${viewPath(list, view, { cause })}"
      >${formatCount(visit, count)} ${causes[cause]}</a
    >`;
  const leftBefore = before && totalOf(before.days, 'cancelled') + totalOf(before.days, 'failed');
  const yesterday = isoDay(view.now - 86_400_000);
  return html`<section class="churn">
    <h2>Churn rate</h2>
    <p class="value"><bdi>${rate ? formatShare(visit, rate.share) : '–'}</bdi></p>
    <p class="was">${showRateChange(visit, churned)}</p>
    <p>
      <a href="${viewPath(list, view)}"
        >${countOf(visit, cancelled + failed, 'subscription left', 'subscriptions left')}</a
      >: ${causeLink(cancelled, 'cancelled')}, ${causeLink(failed, 'failed')}.
      ${
        leftBefore === undefined
          ? `The ${dataBegins(visit, firstDay)}.`
          : `In the period compared with, ${formatCount(visit, leftBefore)} left.`
      }
    </p>
    <p>
      <a
        href="${viewPath(list, { ...view, range: { from: yesterday, to: yesterday }, comparison: 'before' })}"
        >Who left yesterday</a
      >
    </p>
    <p class="quiet">
      As of ${showTime(visit, new Date(view.now))}. The rate is the share of the subscriptions that
      were active or paused when the period began, or became so in it, and have left by its end.
      Subscriptions that came back are not counted, nor are those that expired as planned.
    </p>
  </section>`;
}

function showRateChange(visit: FiguresVisit, { rate, before, firstDay }: Churn): Html {
  if (!rate) return html`No subscriptions to lose`;
  if (!before?.rate)
    return html`${gapIn(visit.view.before, firstDay) ?? 'Nothing to compare with'}`;
  return showShareChange(visit, before.rate, rate, 'lower');
}

const countBy = (cause: keyof typeof causes) => sumOf((each: DayOfChurn) => each[cause]);

/** Subscriptions that left, by day or week; each bar leads to the list of them. */
function leftOverTime(visit: FiguresVisit, { days, before }: Churn): Chart {
  const { counts } = unitsOf(visit);
  const { spans, frame, span, rows } = overTime(visit, days);
  const spansBefore = before && spansOf(before.days);
  const totals = (of: readonly DayOfChurn[]) =>
    `${counts.format(totalOf(of, 'cancelled'))} cancelled, ${counts.format(totalOf(of, 'failed'))} failed`;
  return {
    id: 'chart-churn',
    title: 'Left over time',
    caption: `Per ${span}, UTC, by when the subscription left`,
    headline: { now: totals(days), before: before && `Before: ${totals(before.days)}` },
    marks: 'bars',
    series: [
      seriesOf('Cancelled', 'plain', spans, countBy('cancelled'), spansBefore),
      seriesOf('Failed payments', 'bad', spans, countBy('failed'), spansBefore),
    ],
    hrefs: rows('/churn/left'),
    ...frame,
    ...counts,
  };
}

/** A part of the subscriptions that left, or of the sessions that ended so. */
interface Part {
  readonly label: string;
  readonly href: `/app${string}`;
  readonly count: number;
  /** Of these, subscriptions lost to failed payments. */
  readonly failed: number;
}

/** Which subscriptions left, and why, as far as the cancel flow knows. */
function tables(visit: FiguresVisit, { groups, planNames, reasons }: Churn): Exhibit[] {
  const { shop, view } = visit;
  const left = (more: Readonly<Record<string, string>>) =>
    viewPath(shopPath(shop, '/churn/left'), view, more);
  const plans = [...Map.groupBy(groups, ({ planId }) => planId)].map(([planId, of]) => ({
    label: planNames.get(planId) ?? `Plan ${planId}`,
    href: left({ 'left-plan': String(planId) }),
    ...sumsOf(of),
  }));
  const byAge = Map.groupBy(groups, ({ age }) => age.name);
  return [
    partsTable(visit, {
      id: 'plans',
      title: 'By plan',
      caption: 'The plan of the subscription that left.',
      heading: 'Plan',
      rows: plans.toSorted((a, b) => b.count - a.count || a.label.localeCompare(b.label, 'en')),
    }),
    partsTable(visit, {
      id: 'ages',
      title: 'By age',
      caption: 'How long the subscription had existed when it left.',
      heading: 'Age',
      rows: ageBands.map(({ name, label }) => ({
        label,
        href: left({ 'left-age': name }),
        ...sumsOf(byAge.get(name) ?? []),
      })),
    }),
    partsTable(visit, {
      id: 'reasons',
      title: 'By reason',
      caption:
        'Detected in the cancel flow: sessions started in the period that ended cancelled. Those who left in another way gave no reason.',
      heading: 'Reason',
      rows: reasons
        .filter(({ cancelled }) => cancelled > 0)
        .map(({ reason, cancelled }) => ({
          label: reasonLabels[reason],
          href: viewPath(shopPath(shop, '/cancel-flow/sessions'), view, {
            outcome: 'cancelled',
            reason,
          }),
          count: cancelled,
          failed: 0,
        }))
        .toSorted((a, b) => b.count - a.count),
    }),
  ];
}

function sumsOf(groups: readonly ChurnGroup[]) {
  const failed = groups.filter(({ cause }) => cause === 'failed');
  return { count: sum(groups), failed: sum(failed) };
}

const sum = (rows: readonly Readonly<Record<'count', number>>[]) =>
  rows.reduce((total, { count }) => total + count, 0);

function partsTable(
  visit: ShopVisit,
  {
    id,
    title,
    caption,
    heading,
    rows,
  }: {
    readonly id: 'plans' | 'ages' | 'reasons';
    readonly title: string;
    readonly caption: string;
    readonly heading: string;
    readonly rows: readonly Part[];
  },
): Exhibit {
  const format = countFormat(visit);
  const total = sum(rows);
  const most = Math.max(...rows.map(({ count }) => count));
  // A session knows no failed payments.
  const [counted, hasCauses] = id === 'reasons' ? ['Sessions', false] : ['Left', true];
  return tableExhibit<Part>({
    id,
    noun: `churn-${id}`,
    title,
    caption,
    look: 'reasons shares',
    rows,
    none: total === 0 ? 'None in this period.' : undefined,
    // More rows than anyone compares.
    limit: { rows: 20, note: (hidden) => `${hidden} more in the file.` },
    columns: [
      {
        label: heading,
        kind: 'head',
        cell: ({ label }) => label,
        href: ({ count, href }) => (count === 0 ? undefined : href),
        file: { [heading]: ({ label }) => label },
      },
      {
        label: '',
        kind: 'bar',
        cell: ({ count, failed }) =>
          bar(
            [
              { tone: 'plain', count: count - failed },
              { tone: 'bad', count: failed },
            ],
            most,
          ),
      },
      {
        label: counted,
        cell: ({ count }) => format(count),
        file: { [counted]: ({ count }) => count },
      },
      ...(hasCauses
        ? [
            {
              label: 'Failed',
              tone: 'bad' as const,
              cell: ({ failed }: Part) => format(failed),
              file: { 'Of these, failed payments': ({ failed }: Part) => failed },
            },
          ]
        : []),
      {
        label: 'Share',
        cell: ({ count }) => formatShare(visit, Math.round((count / total) * 1000) / 1000),
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
    const [planNames, rate, days, rateBefore, daysBefore, groups, reasons] = await Promise.all([
      listPlanNames(analyse, shop.id),
      readRate(figures, shop, now, period),
      readDays(figures, now, period),
      hasBefore ? readRate(figures, shop, now, before) : undefined,
      hasBefore ? readDays(figures, now, before) : undefined,
      figures.churnGroups({ ...period, now: seenFrom(period, now) }),
      figures.reasons(period),
    ]);
    return {
      rate,
      days,
      firstDay,
      /** The period compared with; undefined if the shop's data begins later. */
      before: daysBefore && { rate: rateBefore, days: daysBefore },
      groups,
      planNames,
      /** Of the cancel-flow sessions that started in the period. */
      reasons,
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
