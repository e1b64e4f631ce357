import { type Html, html } from '../../http/html.ts';
import { ServiceError } from '../../errors.ts';
import { type Cohort, type CohortOptions, listGross } from '../../metrics/cohorts.ts';
import type { ReadConnections } from '../../store/connections/read-connections.ts';
import { readFigures } from '../../metrics/segments/figures.ts';
import { unitsOf } from '../charts/series.ts';
import { minCases, minRated } from '../../metrics/significance.ts';
import { type Cell, csvLink } from '../framework/csv.ts';
import type { Chart } from '../charts/chart.ts';
import type { Exhibit } from '../framework/exhibits.ts';
import {
  numberFormat,
  countOf,
  formatCount,
  formatRate,
  localeOf,
  showTime,
} from '../ui/formats.ts';
import { hiddenFields, selectField } from '../ui/fields.ts';
import { joined } from '../view/choices.ts';
import { choices } from '../view/picker.ts';
import { pricesKnown, segmentOf } from '../view/view.ts';
import { findPricesSince } from '../../metrics/history.ts';
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
  rateOf,
  obstacleOf,
  obstaclesTo,
  shareOf,
  smallOnes,
} from './shares.ts';
import { heatmap, membersPath } from './table.ts';
import { alert } from '../ui/elements.ts';
import { emptySubject } from '../framework/empty.ts';
import { type FiguresVisit, type Pickers, definePage } from '../framework/page.ts';

type Visit = FiguresVisit<CohortView>;

/** What is measured, how it is written, and how many months are shown. */
const pickers: Pickers<CohortView> = {
  viewOf: cohortViewOf,
  show(visit) {
    const { measure, unit, months, segment } = visit.view;
    const offered = Object.entries(measures).filter(([name]) => !segment || name !== 'gross');
    const ofMonths = monthCounts.map((each) => [String(each), `${each} months`] as const);
    const links = (
      label: string,
      name: string,
      shown: string,
      all: readonly (readonly [string, string])[],
    ) => choices(visit, { name, label, shown, initial: all[0]?.[0] }, all);
    return html`<div class="picker">
      ${links('Measure', 'of', measure, offered)}
      ${links('Unit', 'as', unit, Object.entries(units))}
      ${links('Months', 'months', String(months), ofMonths)}
    </div>`;
  },
  problem: ({ view }) => alert(view.problem),
  hasSegment: true,
  pathOf(path, view) {
    const query = new URLSearchParams(cohortQuery(view));
    return query.size === 0 ? path : `${path}?${query}`;
  },
};

/** Of the customers of each month, how many are kept after one, two and more. */
export const cohorts = definePage<CohortView, readonly Cohort[], number>({
  path: '/cohorts',
  title: 'Cohorts',
  navigation: { group: 'Insights', icon: 'cohorts' },
  assets: ['charts', 'cohorts'],
  pickers,
  files: { path: '/cohorts.csv' },
  async read(visit) {
    const { parts, shop, view } = visit;
    const { measure, months, now, segment } = view;
    const [found, gross] = await parts.store.readRecent(shop.id, (from) =>
      Promise.all([
        readFigures(from, shop, segmentOf(view), (figures) => figures.cohorts({ months, now })),
        measure === 'gross' ? readGross(visit, from, { months, now }) : undefined,
      ]),
    );
    if (found.length === 0 && !segment) return undefined;
    // What was kept is then in place of what the subscriptions bring.
    return gross ? found.map((each) => ({ ...each, mrr: gross.get(each.month) ?? [] })) : found;
  },
  beside: ({ parts: { store }, shop }) =>
    store.readRecent(shop.id, ({ analyse }) => findPricesSince(analyse, shop.id)),
  answer(visit, found, pricesSince = 0) {
    const { view } = visit;
    const compared = compare(found, view, view.now);
    return {
      text: compared
        ? answer(visit, compared)
        : found.length === 0
          ? 'No subscription of this segment began in these months.'
          : 'Two cohorts can be compared once a month after both of them is over.',
      note: html`${compared && noteOn(visit, found, compared)}
      ${view.measure !== 'customers' && pricesKnown(visit, pricesSince, Date.parse(found[0]?.month ?? ''))}`,
      problem: problemOf(visit, found, compared),
      more: pairForm(visit, found, compared),
    };
  },
  charts(visit, found) {
    const compared = compare(found, visit.view, visit.view.now);
    return compared ? [pairChart(visit, compared)] : [];
  },
  tables: (visit, found) => (found.length === 0 ? [] : [heatmapExhibit(visit, found)]),
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

/** @throws ServiceError invalid, for a shop of which it would take many seconds */
async function readGross(visit: Visit, { analyse }: ReadConnections, options: CohortOptions) {
  if (await visit.isQuick()) return listGross(analyse, visit.shop, options);
  const problem = 'Gross revenue is not shown for more than 100,000 subscriptions.';
  throw new ServiceError('invalid', `${problem} Choose net revenue.`);
}

/** Why newer cohorts are not compared, and who left of those that are. */
function noteOn(visit: Visit, found: readonly Cohort[], { cohorts: pair, since }: Comparison) {
  const name = monthFormat(visit, 'long');
  const newer = found.find(({ month }) => pair.every((each) => month > each.month));
  const young =
    visit.view.pair[0] === undefined && newer
      ? `Younger cohorts, from ${name(newer.month)} on, have too few months behind them to tell. `
      : '';
  const paths = pair.map(({ month }) => membersPath(visit, visit.view, month, 0, since));
  const links = pair.flatMap(({ month }, index) =>
    paths[index] === undefined ? [] : html`<a href="${paths[index]}">${name(month)}</a>`,
  );
  const [first, second] = links;
  return html`${young}${first && html`Who left between month 0 and ${since}: ${first}${second && html`, ${second}`}.`}`;
}

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
  const [first, second] = compared?.cohorts ?? [];
  const isUsual = first && second && second.month < first.month;
  // A month that another was taken for is not shown as chosen; a later one is not “the one before”.
  const chosen = view.pair.map((month, index) => {
    const shown = compared?.cohorts[index]?.month;
    return shown === month || !isUsual ? shown : undefined;
  });
  return html`<form class="choose" method="get" action="${cohortPath(shop, {})}">
    ${hiddenFields(Object.entries(others))}
    ${selectField({ id: 'a', label: 'Compare', none: 'Newest', selected: chosen[0], options: months })}
    ${selectField({ id: 'b', label: 'With', none: 'The one before', selected: chosen[1], options: months })}
    <button class="plain">Show</button>
  </form>`;
}

const explained: Readonly<Record<CohortView['measure'], string>> = {
  customers:
    'A customer belongs to the month of their first subscription, and is kept while one of their subscriptions is active or paused at the end of a month.',
  revenue:
    'What the active subscriptions of a cohort bring in per month, at the end of each month; the first is that of the cohort’s own month.',
  gross:
    'What the active subscriptions of a cohort bring in per month, of each customer at most what they brought at the end of the cohort’s own month.',
};

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
          ${explained[measure]}
          ${
            measure === 'customers'
              ? `One of the two compared is better only if each has at least ${minCases} customers and the difference is at least twice what chance alone would do.`
              : 'A difference is called neither better nor worse: no test says how much of it is chance.'
          }
          The average counts each cohort with its size, and only months that are over. Months are in
          UTC. As of ${showTime(visit, new Date(now))}.
        </p>
        ${csvLink(csv)}
      </section>`,
    file: () => cohortsFile(found, view, shop.currency),
  };
}

/** A line for each cohort and month. */
function cohortsFile(found: readonly Cohort[], { measure, now }: CohortView, currency: string) {
  const isGross = measure === 'gross';
  return {
    noun: 'cohorts',
    heads: [
      'Cohort',
      'Months since',
      'Month is over',
      'Customers',
      'Kept',
      'Share kept',
      isGross ? 'MRR kept, gross' : 'MRR',
      isGross ? 'Share of first MRR, gross' : 'Share of first MRR',
      'Currency',
    ],
    rows: found.flatMap((cohort) => {
      const share = (of: CohortView['measure'], since: number) => {
        const exact = shareOf(cohort, of, since);
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
  const problem = joined([view.problem, ...obstacles]);
  const [first, second] = compared?.cohorts ?? [];
  const shown = first && second && `This compares ${name(first.month)} with ${name(second.month)}.`;
  return problem && joined([problem, shown]);
}

/** Which of two cohorts is better, in words, if that can be said. */
function answer(visit: Visit, comparison: Comparison): Html {
  const { measure } = visit.view;
  const { cohorts: pair, since, shares } = comparison;
  const [[first, second], [a, b]] = [pair, shares];
  const name = monthFormat(visit, 'long');
  const rate = ({ customers }: Cohort, share: number) =>
    formatRate(visit, rateOf(measure, share, customers));
  const points = numberFormat(localeOf(visit), { maximumFractionDigits: 1 });
  // Of the shares as they are shown.
  const by = (Math.round(a * 1000) - Math.round(b * 1000)) / 10;
  const months = since === 1 ? '1 month' : `${since} months`;
  const isFew = first.customers < minRated;
  const kept =
    measure !== 'customers' ? 'of its first MRR' : isFew ? 'customers' : 'of its customers';
  const [shown, other] = [rate(first, a), rate(second, b)];
  const sentence = html`${name(first.month)} kept <bdi>${shown}</bdi> ${kept} after ${months}`;
  const small = smallOnes(comparison);
  if (small.length > 0) {
    const sizes = small.map(
      ({ month, customers }) => `${name(month)} has only ${countOf(visit, customers, 'customer')}`,
    );
    return html`${sentence}, ${name(second.month)} <bdi>${other}</bdi>. ${sizes.join(', and ')}: too
      few to say which is better.`;
  }
  const isJudged = measure === 'customers';
  if (isJudged && by !== 0 && isChance(comparison)) {
    const [of, ofOther] = [first, second].map(({ customers }) => formatCount(visit, customers));
    return html`${sentence}, ${name(second.month)} <bdi>${other}</bdi>. Of ${of} and ${ofOther}
      customers, that may be chance.`;
  }
  const judgement = by > 0 ? 'better' : 'worse';
  const difference =
    by === 0
      ? html`as much as`
      : html`<strong class="change ${isJudged ? judgement : 'neutral'}"
            ><bdi>${points.format(Math.abs(by))} points</bdi> ${by > 0 ? 'more' : 'less'}</strong
          >
          than`;
  return html`${sentence}: ${difference} ${name(second.month)}, with <bdi>${other}</bdi>.`;
}

/** Both cohorts, as far as their months are over. */
function pairChart(visit: Visit, { cohorts: pair }: Comparison): Chart {
  const { measure, now } = visit.view;
  const name = monthFormat(visit, 'short');
  const count = Math.max(...pair.map((each) => monthsOver(each, now)));
  const months = Array.from({ length: count }, (_, since) => since);
  const [first, second] = pair;
  const seriesOf = (cohort: Cohort, tone?: 'neutral') => ({
    name: name(cohort.month),
    tone,
    values: months.map((since) =>
      since < monthsOver(cohort, now) ? (shareOf(cohort, measure, since) ?? null) : null,
    ),
  });
  return {
    id: 'chart-pair',
    title: `${measures[measure]} kept`,
    headline: { now: `${name(first.month)} and ${name(second.month)}` },
    caption: 'At the end of each month since the first one, UTC',
    marks: 'line',
    series: [seriesOf(first), seriesOf(second, 'neutral')],
    times: months.map((since) => ({
      full: `Month ${since}`,
      first: '',
      last: '',
      tick: { label: String(since), place: since },
    })),
    timeHeading: 'Months since',
    initial: 'last',
    ...unitsOf(visit).shares,
  };
}
