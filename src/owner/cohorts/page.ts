import { type Html, html } from '../../http/html.ts';
import type { Cohort } from '../../metrics/cohorts.ts';
import { readFigures } from '../../metrics/segments/figures.ts';
import { unitsOf } from '../charts/series.ts';
import { minCases } from '../../metrics/significance.ts';
import { type Cell, csvLink } from '../framework/csv.ts';
import { type Exhibit, chartExhibit } from '../framework/exhibits.ts';
import { numberFormat, formatCount, localeOf, showTime } from '../ui/formats.ts';
import { hiddenFields, selectField } from '../ui/fields.ts';
import { segmentOf } from '../view/view.ts';
import {
  type CohortView,
  monthFormat,
  cohortPath,
  cohortQuery,
  cohortViewOf,
  measures,
  monthCounts,
  units,
} from './view.ts';
import {
  type Comparison,
  type Obstacle,
  compare,
  isChance,
  monthsOver,
  obstacleOf,
  obstaclesTo,
  shareOf,
  smallOnes,
} from './shares.ts';
import { heatmap, percentFormat } from './table.ts';
import { alert } from '../ui/elements.ts';
import { emptySubject } from '../framework/empty.ts';
import { type FiguresVisit, type Pickers, definePage } from '../framework/page.ts';

type Visit = FiguresVisit<CohortView>;

const links = (label: string, items: readonly Html[]) =>
  html`<ul class="periods" aria-label="${label}">
    ${items}
  </ul>`;

/** What is measured, how it is written, and how many months are shown. */
const pickers: Pickers<CohortView> = {
  viewOf: cohortViewOf,
  show({ shop, view }) {
    const link = (changed: Partial<CohortView>, isCurrent: boolean, label: string) =>
      html`<li>
        <a
          href="${cohortPath(shop, cohortQuery({ ...view, ...changed }))}"
          ${isCurrent && html`aria-current="true"`}
          >${label}</a
        >
      </li>`;
    const named = (field: 'measure' | 'unit', names: Readonly<Record<string, string>>) =>
      Object.entries(names).map(([name, text]) =>
        link({ [field]: name }, view[field] === name, text),
      );
    return html`<div class="picker">
      ${links('Measure', named('measure', measures))} ${links('Unit', named('unit', units))}
      ${links(
        'Months',
        monthCounts.map((months) => link({ months }, view.months === months, `${months} months`)),
      )}
    </div>`;
  },
  hasSegment: true,
  pathOf(path, view) {
    const query = new URLSearchParams(cohortQuery(view));
    return query.size === 0 ? path : `${path}?${query}`;
  },
};

/** Of the customers of each month, how many are kept after one, two and more. */
export const cohorts = definePage<CohortView, readonly Cohort[]>({
  path: '/cohorts',
  title: 'Cohorts',
  navigation: { group: 'Insights', icon: 'cohorts' },
  assets: ['charts', 'cohorts'],
  pickers,
  files: { path: '/cohorts.csv' },
  async read({ parts: { store }, shop, view }) {
    const { months, now, segment } = view;
    const found = await store.readRecent(shop.id, (from) =>
      readFigures(from, shop, segmentOf(view), (figures) => figures.cohorts({ months, now })),
    );
    return found.length === 0 && !segment ? undefined : found;
  },
  answer(visit, found) {
    const { view } = visit;
    if (found.length === 0) {
      return html`${alert(view.problem)}
        <p class="quiet">No subscription of this segment began in these months.</p>`;
    }
    const compared = compare(found, view, view.now);
    return html`${alert(problemOf(visit, found, compared))}
    ${compared ? answer(visit, compared) : nothingToCompare}`;
  },
  exhibits(visit, found) {
    const compared = compare(found, visit.view, visit.view.now);
    return [...(compared ? [pairChart(visit, found, compared)] : []), heatmapExhibit(visit, found)];
  },
  body(visit, found, exhibits) {
    const form = pairForm(visit, found, compare(found, visit.view, visit.view.now));
    return found.length === 0 ? form : html`${form} ${exhibits}`;
  },
  empty: (visit) =>
    emptySubject(visit, {
      title: 'No data yet',
      text: 'Retention appears here: of the customers of each month, how many are kept one month later, two, and so on, once a source brings them.',
      answer: 'Of each month’s customers, 82% are kept three months later.',
      rows: [
        ['Month', 'Customers', '1', '2', '3'],
        ['January', '120', '93%', '88%', '84%'],
        ['February', '134', '92%', '87%', '82%'],
      ],
    }),
});

/** Why a month cannot be compared, in words. */
const reasons: Readonly<Record<Obstacle, string>> = {
  'not shown': 'no cohort of that month is shown',
  'too young': 'no later month is over yet',
  'without MRR': 'no MRR at its end',
  twice: 'it is chosen twice',
};

/** Which months are compared. */
function pairForm(visit: Visit, found: readonly Cohort[], compared: Comparison | undefined): Html {
  const { shop, view } = visit;
  const { a: _a, b: _b, ...others } = cohortQuery(view);
  const name = monthFormat(visit, 'short');
  const months = found.toReversed().map(({ month }) => {
    const obstacle = obstacleOf(found, month, view.measure, view.now);
    const label = obstacle ? `${name(month)} (${reasons[obstacle]})` : name(month);
    return [month, label, obstacle !== undefined] as const;
  });
  // A month that another was taken for is not shown as chosen.
  const chosen = view.pair.map((month, index) =>
    compared?.cohorts[index]?.month === month ? month : undefined,
  );
  return html`<form class="choose" method="get" action="${cohortPath(shop, {})}">
    ${hiddenFields(Object.entries(others))}
    ${selectField({
      id: 'a',
      label: 'Compare',
      none: 'Newest',
      selected: chosen[0],
      options: months,
    })}
    ${selectField({
      id: 'b',
      label: 'With',
      none: 'The one before',
      selected: chosen[1],
      options: months,
    })}
    <button class="plain">Show</button>
  </form>`;
}

function heatmapExhibit(visit: Visit, found: readonly Cohort[]): Exhibit {
  const { shop, view } = visit;
  const { measure, now } = view;
  return {
    id: 'all',
    show: (csv) =>
      html`<section aria-labelledby="all">
        <h2 id="all">All cohorts</h2>
        ${heatmap(visit, view, found, now)}
        <p class="quiet">
          ${
            measure === 'customers'
              ? 'A customer belongs to the month of their first subscription, and is kept while one of their subscriptions is active or paused at the end of a month.'
              : 'What the active subscriptions of a cohort bring in per month, at the end of each month; the first is that of the cohort’s own month.'
          }
          One of the two compared is better only if each has at least ${minCases}
          customers${
            measure === 'customers' &&
            ' and the difference is at least twice what chance alone would do'
          }.
          The average counts each cohort with its size, and only months that are over. Months are in
          UTC. As of ${showTime(visit, new Date(now))}.
        </p>
        ${csvLink(csv)}
      </section>`,
    file: () => cohortsFile(found, shop.currency, now),
  };
}

/** A line for each cohort and month. */
function cohortsFile(found: readonly Cohort[], currency: string, now: number) {
  return {
    noun: 'cohorts',
    heads: [
      'Cohort',
      'Months since',
      'Month is over',
      'Customers',
      'Kept',
      'Share kept',
      'MRR',
      'Share of first MRR',
      'Currency',
    ],
    rows: found.flatMap((cohort) => {
      const share = (measure: CohortView['measure'], since: number) => {
        const exact = shareOf(cohort, measure, since);
        return exact === undefined ? null : Math.round(exact * 10_000) / 10_000;
      };
      return cohort.retained.map((kept, since): Cell[] => [
        cohort.month,
        since,
        since < monthsOver(cohort, now) ? 'yes' : 'no',
        cohort.customers,
        kept,
        share('customers', since),
        cohort.mrr[since] ?? null,
        share('revenue', since),
        currency,
      ]);
    }),
  };
}

/** What of the address is not shown, and what is shown instead. */
function problemOf(
  visit: Visit,
  found: readonly Cohort[],
  compared: Comparison | undefined,
): string | undefined {
  const { view } = visit;
  const name = monthFormat(visit, 'long');
  const obstacles = obstaclesTo(found, view, view.now).map(
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
function answer(visit: Visit, comparison: Comparison): Html {
  const { measure } = visit.view;
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

/** Both cohorts, as far as their months are over; its file has all cohorts. */
function pairChart(visit: Visit, found: readonly Cohort[], { cohorts: pair }: Comparison): Exhibit {
  const { shop, view } = visit;
  const { measure, now } = view;
  const name = monthFormat(visit, 'short');
  const count = Math.max(...pair.map((each) => monthsOver(each, now)));
  const months = Array.from({ length: count }, (_, since) => since);
  const [first, second] = pair;
  const seriesOf = (cohort: Cohort, tone: 'plain' | 'quiet') => ({
    name: name(cohort.month),
    tone,
    values: months.map((since) =>
      since < monthsOver(cohort, now) ? (shareOf(cohort, measure, since) ?? null) : null,
    ),
  });
  const drawn = chartExhibit(shop, {
    id: 'chart-pair',
    title: `${measures[measure]} kept`,
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
    ...unitsOf(visit).shares,
    format: percentFormat(visit),
  });
  return {
    ...drawn,
    show: (csv) => html`<div class="pair">${drawn.show(csv)}</div>`,
    file: () => cohortsFile(found, shop.currency, now),
  };
}
