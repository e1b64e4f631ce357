import type { Answer } from '../../http/answer.ts';
import { type Html, html } from '../../http/html.ts';
import { chartAssets } from '../charts/assets.ts';
import { type Chart, chart } from '../charts/chart.ts';
import { spanName, spansOf, timesOf } from '../charts/times.ts';
import { seriesOf, sumOf, unitsOf } from '../charts/values.ts';
import type { Share } from '../chance.ts';
import { changeOfShares } from '../dashboard/changes.ts';
import { showChangeFrom, wordsOf } from '../dashboard/words.ts';
import type { ShopVisit } from '../pages.ts';
import type { SegmentChoices } from '../segments/choices.ts';
import { segmentPicker } from '../segments/picker.ts';
import { page } from '../ui/answers.ts';
import { readAsset } from '../ui/assets.ts';
import { layout, shopPath, sourcesLink } from '../ui/layout.ts';
import { formatCount, formatShare } from '../ui/locale.ts';
import { showTime } from '../ui/times.ts';
import { type Gap, dataBegins, gapIn } from '../view/earlier.ts';
import { periodPicker } from '../view/picker.ts';
import { daysPath } from '../view/days.ts';
import { type View, viewPath } from '../view/view.ts';
import type { Churn, DayOfChurn } from './read.ts';
import { breakdown, tablesOf } from './tables.ts';

export const churnAssets = [readAsset('churn.css', import.meta.url)];

export function churnPage(
  visit: ShopVisit,
  view: View,
  choices: SegmentChoices,
  churn: Churn | undefined,
): Answer {
  const { shop } = visit;
  const path = shopPath(shop, '/churn');
  const content = html`${periodPicker(visit, view, path)}
  ${segmentPicker(visit, view.segment, choices, path)}
  ${churn ? figures(visit, churn) : nothingYet(visit)}`;
  const assets = [...chartAssets, ...churnAssets];
  return page(layout(visit, { title: 'Churn', content, assets }));
}

function nothingYet(visit: ShopVisit): Html {
  return html`<div class="card">
    <h2>No data yet</h2>
    <p>
      Churn appears here: how many subscriptions left, when, why, and which, once a source brings
      them.
    </p>
    <p>${sourcesLink(visit)}</p>
  </div>`;
}

function figures(visit: ShopVisit, churn: Churn): Html {
  const csv = (table: string) =>
    viewPath(shopPath(visit.shop, '/churn.csv'), churn.view, { table });
  const [plans, ...others] = tablesOf(visit, churn).map((each) =>
    breakdown(visit, each, csv(each.id)),
  );
  return html`${answer(visit, churn)}
    <div class="grid">
      <div class="wide">${chart(chartOf(visit, churn), csv('chart-churn'))}</div>
      ${plans}
      <div class="stack">${others}</div>
    </div>`;
}

const causes = {
  cancelled: 'cancelled by the customer',
  failed: 'lost to failed payments',
} as const;

const totalOf = (days: readonly DayOfChurn[], cause: keyof typeof causes) =>
  days.reduce((total, each) => total + each[cause], 0);

/** The rate, how it changed, and how many left. */
function answer(visit: ShopVisit, { view, rate, days, before, firstDay }: Churn): Html {
  const list = shopPath(visit.shop, '/churn/left');
  const link = (count: number, label: string, path: string) =>
    html`<a href="${path}">${formatCount(visit, count)} ${label}</a>`;
  const [cancelled, failed] = [totalOf(days, 'cancelled'), totalOf(days, 'failed')];
  const left = cancelled + failed;
  const leftBefore = before && totalOf(before.days, 'cancelled') + totalOf(before.days, 'failed');
  const yesterday = new Date(view.now - 86_400_000).toISOString().slice(0, 10);
  return html`<section class="churn">
    <h2>Churn rate</h2>
    <p class="value"><bdi>${rate ? formatShare(visit, rate.share) : '–'}</bdi></p>
    <p class="was">${showRateChange(visit, rate, before?.rate, gapIn(view.before, firstDay))}</p>
    <p>
      ${link(left, left === 1 ? 'subscription left' : 'subscriptions left', viewPath(list, view))}:
      ${link(cancelled, causes.cancelled, viewPath(list, view, { cause: 'cancelled' }))},
      ${link(failed, causes.failed, viewPath(list, view, { cause: 'failed' }))}.
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

function showRateChange(
  visit: ShopVisit,
  rate: Share | undefined,
  before: Share | undefined,
  gap: Gap | undefined,
): Html {
  if (!rate) return html`No subscriptions to lose`;
  if (!before) return html`${gap ?? 'Nothing to compare with'}`;
  const change = changeOfShares(before, rate, 'lower');
  return showChangeFrom(wordsOf(visit), { format: 'share' }, change);
}

/** Those that left, by day or week; each bar leads to the list of them. */
export function chartOf(visit: ShopVisit, { view, days, before }: Churn): Chart {
  const { counts } = unitsOf(visit);
  const [spans, spansBefore] = [spansOf(days), before && spansOf(before.days)];
  const { times, timeHeading } = timesOf(visit, spans);
  const cancelled = sumOf((each: DayOfChurn) => each.cancelled);
  const failed = sumOf((each: DayOfChurn) => each.failed);
  const totals = (of: readonly DayOfChurn[]) =>
    `${counts.format(cancelled(of))} cancelled, ${counts.format(failed(of))} failed`;
  const list = shopPath(visit.shop, '/churn/left');
  return {
    id: 'chart-churn',
    title: 'Left over time',
    caption: `Per ${spanName(spans)}, UTC, by when the subscription left`,
    headline: { now: totals(days), before: before && `Before: ${totals(before.days)}` },
    marks: 'bars',
    series: [
      seriesOf('Cancelled', 'plain', spans, cancelled, spansBefore),
      seriesOf('Failed payments', 'bad', spans, failed, spansBefore),
    ],
    times,
    timeHeading,
    hrefs: times.map((time) => daysPath(list, view, time)),
    initial: 'last',
    ...counts,
  };
}
