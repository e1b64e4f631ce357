import { type Html, html } from '../../http/html.ts';
import {
  type Cases,
  type ClosedCases,
  attemptsIn,
  amountOf,
  totalOf,
} from '../../metrics/recovery.ts';
import { type Exhibit, tableExhibit } from '../framework/exhibits.ts';
import type { FiguresVisit } from '../framework/figures.ts';
import type { ShopVisit } from '../pages.ts';
import { shopPath } from '../ui/layout.ts';
import { countOf, formatCount, formatMoney, formatShare } from '../ui/locale.ts';
import { viewPath } from '../view/view.ts';
import { codeParameter } from './cases.ts';
import { failureWords, showFailureCode } from './failure-codes.ts';
import { ended, rateOf } from './figures.ts';

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

const names = ['1st', '2nd', '3rd', '4th or later'];

function byAttempt(closed: readonly ClosedCases[]): Breakdown {
  return {
    id: 'recovery-attempts',
    title: 'Recovery rate by attempt',
    caption: 'Attempts to collect after the first failure, in cases closed in the period',
    heading: 'Attempt',
    restHeading: 'Failed',
    groups: attemptsIn(closed).map(({ number, succeeded, failed, failedIn }, index): Group => {
      const name = names[index] ?? '';
      const isLast = index === names.length - 1;
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
    isWide: true,
    scrolls: true,
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
        kind: 'number',
        cell: ({ recovered, rest }) => showRate(visit, rateOf(recovered, rest)),
        href: ({ recovered, rest, rateQuery }) =>
          rateOf(recovered, rest) === undefined ? undefined : closed(rateQuery),
        file: { 'Recovery rate': ({ recovered, rest }) => rateOf(recovered, rest) ?? null },
      },
      {
        label: 'Recovered amount',
        kind: 'amount',
        cell: ({ recovered }) => formatMoney(visit, shop, amountOf(recovered, shop.currency)),
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

/** A rate of nothing is none. */
export function showRate(visit: ShopVisit, rate: number | undefined): string {
  return rate === undefined ? '–' : formatShare(visit, rate);
}
