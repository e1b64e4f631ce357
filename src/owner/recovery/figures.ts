import { roundedShare } from '../../money.ts';
import { type Period, seenFrom } from '../../metrics/bounds.ts';
import {
  type Cases,
  type ClosedCases,
  type Result,
  totalOf,
  amountOf,
  results,
  attemptsIn,
} from '../../metrics/recovery.ts';
import type { Share } from '../../metrics/significance.ts';
import type { Store } from '../../store/open.ts';
import type { Shop } from '../../store/shops.ts';
import { type View, daysOf, viewPath } from '../view/view.ts';
import type { Chart } from '../charts/chart.ts';
import { type Values, overTime, seriesOf, unitsOf } from '../charts/series.ts';
import { type Html, html } from '../../http/html.ts';
import { type Exhibit, tableExhibit } from '../framework/exhibits.ts';
import { countOf, formatCount, formatMoney, formatRate } from '../ui/formats.ts';
import { codeParameter, resultLabels } from './cases.ts';
import { failureWords, showFailureCode } from '../ui/labels.ts';
import { shopPath } from '../site.ts';
import { type FiguresVisit, readPeriods } from '../framework/page.ts';

export type Recovery = NonNullable<Awaited<ReturnType<typeof readRecovery>>>;

/** @returns undefined for a shop without data */
export function readRecovery(store: Store, shop: Shop, view: View) {
  const { period, before: periodBefore, now } = view;
  return readPeriods(store, shop, view, async (figures, { hasBefore }) => {
    const [outstanding, closed, before] = await Promise.all([
      figures.outstanding(seenFrom(period, now)),
      figures.closed(period),
      hasBefore ? figures.closed(periodBefore) : undefined,
    ]);
    return { outstanding, closed, before };
  });
}

/** Those with one result. */
export function ended(cases: readonly ClosedCases[], result: Result): Cases {
  return totalOf(cases.filter((each) => each.result === result));
}

/** The share that was recovered, as the summary rounds it; 0 of nothing. */
export function rateOf(recovered: Cases, rest: Cases): Share {
  const of = recovered.count + rest.count;
  return { share: of === 0 ? 0 : roundedShare(BigInt(recovered.count), BigInt(of), 4), of };
}

/** A UTC day, and what closed on it. */
interface Day {
  readonly day: string;
  readonly closed: readonly ClosedCases[];
}

/** What was recovered and lost over time, by number and by amount. */
export function recoveryCharts(visit: FiguresVisit, recovery: Recovery): Chart[] {
  const { shop, view } = visit;
  const { counts, amounts } = unitsOf(visit);
  const held = Math.max(...results.map((result) => ended(recovery.closed, result).count));
  const days = daysIn(view.period, recovery.closed);
  const { spans, frame, span: length, rows, paired } = overTime(visit, days, held);
  const spansBefore = recovery.before && paired(daysIn(view.before, recovery.before));
  const chartOf = (
    id: string,
    title: string,
    units: Values,
    valueOf: (cases: Cases) => number,
  ): Chart => {
    const totals = (cases: readonly ClosedCases[]) =>
      results
        .map((result) => `${units.format(valueOf(ended(cases, result)))} ${result}`)
        .join(', ');
    return {
      id,
      title,
      headline: {
        now: totals(recovery.closed),
        before: recovery.before && `Before: ${totals(recovery.before)}`,
      },
      caption: `Per ${length}, UTC`,
      marks: 'bars',
      series: results.map((result) =>
        seriesOf(
          ...resultLabels[result],
          spans,
          (span) => valueOf(ended(closedIn(span), result)),
          spansBefore,
        ),
      ),
      hrefs: rows('/recovery/closed'),
      ...frame,
      ...units,
    };
  };
  return [
    chartOf('recovered', 'Payments recovered and lost', counts, ({ count }) => count),
    chartOf('recovered-amount', 'Amounts recovered and lost', amounts, (cases) =>
      amountOf(cases, shop.currency),
    ),
  ];
}

const closedIn = (span: readonly Day[]) => span.flatMap(({ closed }) => closed);

const daysIn = (period: Period, closed: readonly ClosedCases[]) => {
  const byDay = Map.groupBy(closed, (each) => each.day);
  return daysOf(period, (at) => ({ closed: byDay.get(at) ?? [] }));
};

type Query = Readonly<Record<string, string>>;

/** What was recovered and what was not, each with the filter that lists its cases. */
interface Group {
  readonly head: Html;
  /** The head in files. */
  readonly name: string;
  readonly recovered: Cases;
  readonly rest: Cases;
  /** How many cases the rest is in. */
  readonly restIn: number;
  readonly recoveredQuery: Query;
  readonly restQuery: Query;
  /** Of all that the rate is of. */
  readonly rateQuery: Query;
}

interface Breakdown {
  readonly id: string;
  readonly title: string;
  readonly caption: string;
  readonly heading: string;
  readonly restHeading: string;
  readonly groups: readonly Group[];
}

/** How closed cases ended, by attempt within the case and by failure code. */
export function breakdowns(visit: FiguresVisit, closed: readonly ClosedCases[]): Exhibit[] {
  return [byAttempt(closed), byCode(closed)].map((each) => table(visit, each));
}

const attemptNames = ['1st', '2nd', '3rd', '4th or later'];

function byAttempt(closed: readonly ClosedCases[]): Breakdown {
  return {
    id: 'recovery-attempts',
    title: 'Recovery rate by attempt',
    caption: 'Attempts to collect after the first failure, in cases closed in the period',
    heading: 'Attempt',
    restHeading: 'Failed',
    groups: attemptsIn(closed).map(({ number, succeeded, failed, failedIn }, index): Group => {
      const name = attemptNames[index] ?? '';
      const isLast = index === attemptNames.length - 1;
      return {
        head: html`${name}`,
        name,
        recovered: succeeded,
        rest: failed,
        restIn: failedIn,
        recoveredQuery: { result: 'recovered', attempts: `${number}${isLast ? '+' : ''}` },
        restQuery: { attempts: `${number + 1}+` },
        rateQuery: { retries: `${number}+` },
      };
    }),
  };
}

function byCode(closed: readonly ClosedCases[]): Breakdown {
  const groups = [...Map.groupBy(closed, ({ failureCode }) => failureCode)]
    .map(([code, cases]) => ({ code, cases, total: totalOf(cases).count }))
    .toSorted(
      (a, b) => b.total - a.total || codeParameter(a.code).localeCompare(codeParameter(b.code)),
    );
  return {
    id: 'recovery-codes',
    title: 'Recovery rate by failure code',
    caption: 'Of the last failed payment, in cases closed in the period',
    heading: 'Failure code',
    restHeading: 'Lost',
    groups: groups.map(({ code, cases }): Group => {
      const query = { code: codeParameter(code) };
      const lost = ended(cases, 'lost');
      return {
        head: showFailureCode(code),
        name: code ?? failureWords(code),
        recovered: ended(cases, 'recovered'),
        rest: lost,
        restIn: lost.count,
        rateQuery: query,
        recoveredQuery: { ...query, result: 'recovered' },
        restQuery: { ...query, result: 'lost' },
      };
    }),
  };
}

/** A source may have any number of codes. */
const maxRows = 25;

function table(visit: FiguresVisit, breakdown: Breakdown): Exhibit {
  const { shop, view } = visit;
  const { id, title, caption, heading, restHeading, groups } = breakdown;
  const closed = (query: Query) => viewPath(shopPath(shop, '/recovery/closed'), view, query);
  // The number of cases leads to them, also where they have more attempts than that.
  const count = ({ count: all }: Cases, listed: number, query: Query) => {
    const shown = formatCount(visit, all);
    if (all === 0) return shown;
    if (all === listed) return html`<a href="${closed(query)}">${shown}</a>`;
    return html`${shown} in <a href="${closed(query)}">${countOf(visit, listed, 'payment')}</a>`;
  };
  return tableExhibit<Group>({
    id,
    title,
    caption,
    look: 'plain',
    narrow: 'stacks',
    rows: groups,
    none: groups.length === 0 ? 'Nothing closed in this period.' : undefined,
    limit: {
      rows: maxRows,
      note: () =>
        `The ${maxRows} most frequent of ${formatCount(visit, groups.length)} codes. The file has all of them.`,
    },
    columns: [
      {
        label: heading,
        kind: 'head',
        cell: ({ head }) => head,
        file: { [heading]: ({ name }) => name },
      },
      {
        label: 'Recovered',
        kind: 'number',
        cell: ({ recovered, recoveredQuery }) => count(recovered, recovered.count, recoveredQuery),
        file: { Recovered: ({ recovered }) => recovered.count },
      },
      {
        label: restHeading,
        kind: 'number',
        cell: ({ rest, restIn, restQuery }) => count(rest, restIn, restQuery),
        file: { [restHeading]: ({ rest }) => rest.count },
      },
      {
        label: 'Rate',
        kind: 'number main',
        cell: ({ recovered, rest }) => formatRate(visit, rateOf(recovered, rest)),
        href: ({ recovered, rest, rateQuery }) =>
          rateOf(recovered, rest).of === 0 ? undefined : closed(rateQuery),
        file: {
          'Recovery rate': ({ recovered, rest }) => {
            const { share, of } = rateOf(recovered, rest);
            return of === 0 ? null : share;
          },
        },
      },
      {
        label: 'Recovered amount',
        kind: 'amount',
        cell: ({ recovered }) => formatMoney(visit, amountOf(recovered, shop.currency)),
        href: ({ recovered, recoveredQuery }) =>
          recovered.count === 0 ? undefined : closed(recoveredQuery),
        file: {
          'Recovered amount': ({ recovered }) => amountOf(recovered, shop.currency),
          [`${restHeading} amount`]: ({ rest }) => amountOf(rest, shop.currency),
          Currency: () => shop.currency,
        },
      },
    ],
  });
}
