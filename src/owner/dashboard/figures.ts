import { type Figure, figures } from '../../metrics/figures.ts';
import { type Html, html } from '../../http/html.ts';
import { day } from '../../metrics/bounds.ts';
import { sparkline } from '../charts/sparkline.ts';
import { spansOf, timesOf, wholeSpansOf } from '../charts/series.ts';
import type { Chart } from '../charts/chart.ts';
import type { ShopVisit } from '../pages.ts';
import { help } from '../ui/elements.ts';
import { viewPath } from '../view/view.ts';
import {
  type Compared,
  changeOf,
  showChange,
  showChangeFrom,
  showValue,
  wordsOf,
} from './changes.ts';
import type { Dashboard, DashboardDay } from './dashboard.ts';
import { shopPath } from '../site.ts';

/** Shown largest. */
const heroes: readonly Figure[] = [figures.mrr, figures.activeSubscribers, figures.churnRate30d];

interface FigureGroup {
  readonly title: string;
  readonly figures: readonly Figure[];
}

/** The other figures. */
const figureGroups: readonly FigureGroup[] = [
  {
    title: 'Subscribers',
    figures: [
      figures.newSubscribers30d,
      figures.cancelled30d,
      figures.pausedSubscribers,
      figures.cancelSessions30d,
      figures.saveRate,
      figures.avgSubscriptionValue,
    ],
  },
  {
    title: 'Payments',
    figures: [
      figures.revenue30d,
      figures.failedPayments30d,
      figures.dunningActive,
      figures.recoveryRate,
      figures.upcomingRenewals7d,
      figures.upcomingRenewalsValue7d,
    ],
  },
];

export const allFigures: readonly Figure[] = [
  ...heroes,
  ...figureGroups.flatMap((group) => group.figures),
];

export type Shown = Compared & Pick<Dashboard, 'history' | 'historyBefore'>;

const fullTimes = (times: Chart['times']) => times.map(({ full }) => full).join('|');

/**
 * The three figures that matter most, each with its line over the period.
 * @param ofChart the times of the page's chart, which are not said again
 */
export function heroFigures(visit: ShopVisit, data: Shown, ofChart: Chart['times'] = []): Html {
  const words = wordsOf(visit);
  const { history, historyBefore = [], earlier } = data;
  const times = fullTimes(timesOf(visit, spansOf(history)).times);
  const cards = heroes.map((figure) => {
    const [now, before] = [
      valuesOf(figure, history, data),
      valuesOf(figure, historyBefore, earlier),
    ];
    const texts = now.map((value) =>
      showValue(words, figure, { ...data, summary: { ...data.summary, [figure.field]: value } }),
    );
    return html`<div class="hero" data-values="${texts.join('|')}">
      <h2>
        <a class="row" id="hero-${figure.field}" href="${rowsOf(visit, figure, data)}"
          >${figure.name}</a
        >
        ${help(figure.field, figure.name, figure.definition)}
      </h2>
      <p class="value">
        <bdi data-figure="${figure.field}">${showValue(words, figure, data)}</bdi>
      </p>
      <p class="was">${showChangeFrom(words, figure, changeOf(figure, data))}</p>
      ${sparkline(now, before)}
    </div>`;
  });
  // In a long currency, all three are smaller where they would not fit.
  const isLong = heroes.some((figure) => showValue(words, figure, data).length > 12);
  return html`<section
    class="heroes${isLong ? ' long' : ''}"
    aria-label="Main figures"
    ${times !== fullTimes(ofChart) && html`data-times="${times}"`}
  >
    ${cards}
  </section>`;
}

/** The other figures, a row each. */
export function figureRows(visit: ShopVisit, data: Shown): Html {
  const words = wordsOf(visit);
  const groups = figureGroups.map(
    ({ title, figures: shown }) =>
      html`<section>
        <h2 id="figures-${title}">${title}</h2>
        <table class="figures" aria-labelledby="figures-${title}">
          <thead class="visually-hidden">
            <tr>
              <th scope="col">Figure</th>
              <th scope="col">Value</th>
              <th scope="col">Change</th>
              <td></td>
            </tr>
          </thead>
          <tbody>
            ${shown.map(
              (figure) =>
                html`<tr>
                  <th scope="row">
                    <a class="row" href="${rowsOf(visit, figure, data)}">${figure.name}</a>
                    ${help(figure.field, figure.name, figure.definition)}
                  </th>
                  <td class="value">
                    <bdi data-figure="${figure.field}">${showValue(words, figure, data)}</bdi>
                  </td>
                  <td class="changed">${showChange(words, figure, changeOf(figure, data))}</td>
                  <td class="line">${lineOf(figure, data)}</td>
                </tr>`,
            )}
          </tbody>
        </table>
      </section>`,
  );
  return html`<div class="groups">${groups}</div>`;
}

/** By day, or by week where days would be too narrow; without days or weeks of which only a part is in the period. */
function lineOf({ byDay }: Figure, { history, view: { period } }: Shown): Html | undefined {
  if (!byDay) return undefined;
  const isWhole = ({ day: start }: DashboardDay) =>
    Date.parse(start) >= period.from && Date.parse(start) + day <= period.until;
  const whole = wholeSpansOf(history.filter(isWhole));
  return sparkline(whole.map((span) => span.reduce((sum, each) => sum + byDay(each), 0)));
}

/** Where a figure's rows are, for the same period. */
function rowsOf(visit: ShopVisit, { rows, filter }: Figure, { view }: Compared): `/app${string}` {
  return viewPath(shopPath(visit.shop, rows), view, filter);
}

/** The values at the ends of days or weeks; of the churn rate, what share of its subscriptions had left by then. */
function valuesOf(
  { field, byDay = () => 0 }: Figure,
  days: Dashboard['history'],
  { bases }: Pick<Dashboard, 'bases'>,
): number[] {
  let left = 0;
  const isRate = field === 'churnRate30d';
  const values = days.map((each) => ({
    day: each.day,
    value: isRate ? (left += byDay(each)) / Math.max(bases.atRisk, 1) : byDay(each),
  }));
  return spansOf(values).flatMap((span) => span.at(-1)?.value ?? []);
}
