import type { Answer } from '../../http/answer.ts';
import { type Html, html } from '../../http/html.ts';
import type { Cohort } from '../../metrics/cohort-rows.ts';
import { chartAssets } from '../charts/assets.ts';
import { chart } from '../charts/chart.ts';
import { unitsOf } from '../charts/values.ts';
import { minCases } from '../chance.ts';
import type { ShopVisit } from '../pages.ts';
import { page } from '../ui/answers.ts';
import { readAsset } from '../ui/assets.ts';
import { alert, layout, sourcesLink } from '../ui/layout.ts';
import { csvLink } from '../framework/csv.ts';
import { numberFormat } from '../ui/formats.ts';
import { formatCount, localeOf } from '../ui/locale.ts';
import type { SegmentChoices } from '../segments/choices.ts';
import { segmentPicker } from '../segments/picker.ts';
import { selectField } from '../view/select.ts';
import { showTime } from '../ui/times.ts';
import { monthFormat } from './months.ts';
import { type Comparison, type Obstacle } from './shares.ts';
import {
  compare,
  isChance,
  monthsOver,
  obstacleOf,
  obstaclesTo,
  shareOf,
  smallOnes,
} from './shares.ts';
import { heatmap, percentFormat } from './table.ts';
import { type CohortView, cohortPath, cohortQuery, measures, monthCounts, units } from './view.ts';

export const cohortAssets = [readAsset('cohorts.css', import.meta.url)];

interface Parts {
  readonly view: CohortView;
  readonly now: number;
  /** Why there are none: they took too long. */
  readonly problem?: string;
  readonly cohorts: readonly Cohort[];
  readonly choices: SegmentChoices;
}

export function cohortsPage(visit: ShopVisit, parts: Parts): Answer {
  const { cohorts, view, problem } = parts;
  const isEmpty = cohorts.length === 0 && !view.segment;
  const content = isEmpty
    ? html`<div class="card">
        <h2>No data yet</h2>
        <p>
          Retention appears here: of the customers of each month, how many are kept one month later,
          two, and so on, once a source brings them.
        </p>
        <p>${sourcesLink(visit)}</p>
      </div>`
    : problem === undefined
      ? figures(visit, parts)
      : html`${alert(problem)} ${controls(visit, parts, undefined)}`;
  const assets = [...chartAssets, ...cohortAssets];
  const status = problem === undefined ? 200 : 503;
  return page(layout(visit, { title: 'Cohorts', content, assets }), status);
}

/** What is shown, by links and a form. */
function controls(visit: ShopVisit, parts: Parts, compared: Comparison | undefined): Html {
  const { view, choices } = parts;
  const link = (changed: Partial<CohortView>, isCurrent: boolean, label: string) =>
    html`<li>
      <a
        href="${cohortPath(visit.shop, cohortQuery({ ...view, ...changed }))}"
        ${isCurrent ? html`aria-current="true"` : undefined}
        >${label}</a
      >
    </li>`;
  const links = <Name extends string>(
    label: string,
    names: Readonly<Record<Name, string>>,
    field: 'measure' | 'unit',
  ) =>
    html`<ul class="periods" aria-label="${label}">
      ${Object.entries<string>(names).map(([name, text]) =>
        link({ [field]: name }, view[field] === name, text),
      )}
    </ul>`;
  return html`<div class="picker">
      ${links('Measure', measures, 'measure')} ${links('Unit', units, 'unit')}
      <ul class="periods" aria-label="Months">
        ${monthCounts.map((months) => link({ months }, view.months === months, `${months} months`))}
      </ul>
    </div>
    ${segmentPicker(visit, view.segment, choices, cohortPath(visit.shop, {}))}
    ${form(visit, parts, compared)}`;
}

/** Why a month cannot be compared, in words. */
const reasons: Readonly<Record<Obstacle, string>> = {
  'not shown': 'no cohort of that month is shown',
  'too young': 'no later month is over yet',
  'without MRR': 'no MRR at its end',
  twice: 'it is chosen twice',
};

function form(
  visit: ShopVisit,
  { view, cohorts, now }: Parts,
  compared: Comparison | undefined,
): Html {
  const { a: _a, b: _b, ...others } = cohortQuery(view);
  const name = monthFormat(visit, 'short');
  const months = cohorts.toReversed().map(({ month }) => {
    const obstacle = obstacleOf(cohorts, month, view.measure, now);
    const label = obstacle ? `${name(month)} (${reasons[obstacle]})` : name(month);
    return [month, label, obstacle !== undefined] as const;
  });
  // A month that another was taken for is not shown as chosen.
  const chosen = view.pair.map((month, index) =>
    compared?.cohorts[index]?.month === month ? month : undefined,
  );
  return html`<form class="choose" method="get" action="${cohortPath(visit.shop, {})}">
    ${Object.entries(others).map(
      ([field, value]) => html`<input type="hidden" name="${field}" value="${value}" />`,
    )}
    ${selectField({
      name: 'a',
      label: 'Compare',
      none: 'Newest',
      selected: chosen[0],
      options: months,
    })}
    ${selectField({
      name: 'b',
      label: 'With',
      none: 'The one before',
      selected: chosen[1],
      options: months,
    })}
    <button class="plain">Show</button>
  </form>`;
}

function figures(visit: ShopVisit, parts: Parts): Html {
  const { view, cohorts, now } = parts;
  if (cohorts.length === 0) {
    return html`${alert(view.problem)} ${controls(visit, parts, undefined)}
      <p class="quiet">No subscription of this segment began in these months.</p>`;
  }
  const compared = compare(cohorts, view, now);
  return html`${alert(problemOf(visit, parts, compared))}
    ${compared ? answer(visit, view, compared) : nothingToCompare}
    ${controls(visit, parts, compared)} ${compared && pairChart(visit, view, compared, now)}
    <section aria-labelledby="all">
      <h2 id="all">All cohorts</h2>
      ${heatmap(visit, view, cohorts, now)}
      <p class="quiet">
        ${
          view.measure === 'customers'
            ? 'A customer belongs to the month of their first subscription, and is kept while one of their subscriptions is active or paused at the end of a month.'
            : 'What the active subscriptions of a cohort bring in per month, at the end of each month and at today’s prices; the first is that of the cohort’s own month.'
        }
        One of the two compared is better only if each has at least ${minCases}
        customers${
          view.measure === 'customers'
            ? ' and the difference is at least twice what chance alone would do'
            : undefined
        }.
        The average counts each cohort with its size, and only months that are over. Months are in
        UTC. As of ${showTime(visit, new Date(now))}.
      </p>
      ${csvLink(cohortPath(visit.shop, cohortQuery({ ...view, pair: [undefined, undefined] }), '.csv'))}
    </section>`;
}

/** What of the address is not shown, and what is shown instead. */
function problemOf(
  visit: ShopVisit,
  { view, cohorts, now }: Parts,
  compared: Comparison | undefined,
): string | undefined {
  const name = monthFormat(visit, 'long');
  const obstacles = obstaclesTo(cohorts, view, now).map(
    ({ month, obstacle }) => `${name(month)} cannot be compared: ${reasons[obstacle]}.`,
  );
  const problems = [...(view.problem === undefined ? [] : [view.problem]), ...obstacles];
  if (problems.length === 0) return undefined;
  const [first, second] = compared?.cohorts ?? [];
  const shown = first && second && `This compares ${name(first.month)} with ${name(second.month)}.`;
  return [...problems, ...(shown ? [shown] : [])].join(' ');
}

const nothingToCompare = html`<p>
  Two cohorts can be compared once a month after both of them is over.
</p>`;

/** Which of two cohorts is better, in words, if that can be said. */
function answer(visit: ShopVisit, { measure }: CohortView, comparison: Comparison): Html {
  const {
    cohorts: [first, second],
    since,
    shares: [a, b],
  } = comparison;
  const [name, percent] = [monthFormat(visit, 'long'), percentFormat(visit)];
  const points = numberFormat(localeOf(visit), { maximumFractionDigits: 1 });
  // Of the shares as they are shown.
  const by = (Math.round(a * 1000) - Math.round(b * 1000)) / 10;
  const months = since === 1 ? '1 month' : `${since} months`;
  const kept = measure === 'customers' ? 'of its customers' : 'of its first MRR';
  const sentence = html`${name(first.month)} kept <bdi>${percent(a)}</bdi> ${kept} after ${months}`;
  const small = smallOnes(comparison);
  if (small.length > 0) {
    const sizes = small.map(
      ({ month, customers }) => `${name(month)} has only ${formatCount(visit, customers)}`,
    );
    return html`<h2 class="answer">
      ${sentence}, ${name(second.month)} <bdi>${percent(b)}</bdi>. ${sizes.join(', and ')}
      ${small.some(({ customers }) => customers > 1) ? 'customers' : 'customer'}: too few to say
      which is better.
    </h2>`;
  }
  if (by !== 0 && isChance(comparison, measure)) {
    const [of, ofOther] = [first, second].map(({ customers }) => formatCount(visit, customers));
    return html`<h2 class="answer">
      ${sentence}, ${name(second.month)} <bdi>${percent(b)}</bdi>. Of ${of} and ${ofOther}
      customers, that may be chance.
    </h2>`;
  }
  const difference =
    by === 0
      ? html`as much as`
      : html`<strong class="change ${by > 0 ? 'better' : 'worse'}"
            ><bdi>${points.format(Math.abs(by))} points</bdi> ${by > 0 ? 'more' : 'less'}</strong
          >
          than`;
  return html`<h2 class="answer">
    ${sentence}: ${difference} ${name(second.month)}, with <bdi>${percent(b)}</bdi>.
  </h2>`;
}

/** Both cohorts, as far as their months are over. */
function pairChart(
  visit: ShopVisit,
  view: CohortView,
  { cohorts: pair }: Comparison,
  now: number,
): Html {
  const name = monthFormat(visit, 'short');
  const count = Math.max(...pair.map((each) => monthsOver(each, now)));
  const months = Array.from({ length: count }, (_, since) => since);
  const [first, second] = pair;
  const seriesOf = (cohort: Cohort, tone: 'plain' | 'quiet') => ({
    name: name(cohort.month),
    tone,
    values: months.map((since) =>
      since < monthsOver(cohort, now) ? (shareOf(cohort, view.measure, since) ?? null) : null,
    ),
  });
  const { shares } = unitsOf(visit);
  const csv = cohortPath(visit.shop, cohortQuery(view), '.csv');
  return html`<div class="pair">
    ${chart(
      {
        id: 'chart-pair',
        title: `${measures[view.measure]} kept`,
        headline: { now: `${name(first.month)} and ${name(second.month)}` },
        caption: 'At the end of each month since the first one, UTC',
        marks: 'line',
        series: [seriesOf(first, 'plain'), seriesOf(second, 'quiet')],
        times: months.map((since) => ({
          full: `Month ${since}`,
          first: '',
          last: '',
          tick: { label: String(since), place: since },
        })),
        timeHeading: 'Months since',
        initial: 'last',
        ...shares,
        format: percentFormat(visit),
      },
      csv,
    )}
  </div>`;
}
