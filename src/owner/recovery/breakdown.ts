import type { Readable } from 'node:stream';
import type { Answer } from '../../http/answer.ts';
import { type Html, html } from '../../http/html.ts';
import { attemptsIn } from '../../metrics/recovery/attempts.ts';
import { type Cases, type ClosedCases, amountOf, totalOf } from '../../metrics/recovery/figures.ts';
import { tableFile } from '../framework/csv.ts';
import type { Cell } from '../framework/csv.ts';
import type { ShopVisit } from '../pages.ts';
import { failureWords, showFailureCode } from './failure-codes.ts';
import { shopPath } from '../ui/layout.ts';
import { csvLink } from '../framework/csv.ts';
import { formatCount, formatMoney, formatShare } from '../ui/locale.ts';
import { type View, viewPath } from '../view/view.ts';
import { ended, rateOf } from './figures.ts';
import { codeParameter } from './cases.ts';

/** What was recovered and what was not, each with the filter that lists its cases. */
interface Group {
  readonly head: Html;
  /** The head in files. */
  readonly name: string;
  readonly recovered: Cases;
  readonly rest: Cases;
  /** How many cases the rest is in. */
  readonly restIn: number;
  readonly recoveredQuery: Readonly<Record<string, string>>;
  readonly restQuery: Readonly<Record<string, string>>;
  /** Of all that the rate is of. */
  readonly rateQuery: Readonly<Record<string, string>>;
}

export interface Breakdown {
  /** Unique on the page. */
  readonly id: string;
  readonly title: string;
  readonly caption: string;
  readonly heading: string;
  readonly restHeading: string;
  readonly groups: readonly Group[];
}

/** How closed cases ended, by attempt within the case and by failure code. */
export function breakdownsOf(closed: readonly ClosedCases[]): Breakdown[] {
  return [byAttempt(closed), byCode(closed)];
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

/** A source may have any number of codes; all of them are in the file. */
const maxRows = 25;

export function breakdownTable(
  visit: ShopVisit,
  view: View,
  { id, title, caption, heading, restHeading, groups }: Breakdown,
): Html {
  const { shop } = visit;
  const closedPath = shopPath(shop, '/recovery/closed');
  /** @param query of the cases that it says something of; undefined if there are none */
  const linked = (text: string, query: Readonly<Record<string, string>> | undefined) =>
    query ? html`<a href="${viewPath(closedPath, view, query)}">${text}</a>` : text;
  // The number of cases leads to them, also where they have more attempts than that.
  const count = (
    { count: all }: Cases,
    listed: number,
    query: Readonly<Record<string, string>>,
  ) => {
    const shown = formatCount(visit, all);
    const payments = `${formatCount(visit, listed)} ${listed === 1 ? 'payment' : 'payments'}`;
    return html`<td class="number">
      ${
        all === listed
          ? linked(shown, all === 0 ? undefined : query)
          : html`${shown} in ${linked(payments, query)}`
      }
    </td>`;
  };
  const rows = groups
    .slice(0, maxRows)
    .map(({ head, recovered, rest, restIn, recoveredQuery, restQuery, rateQuery }) => {
      const rate = rateOf(recovered, rest);
      return html`<tr>
        <th scope="row">${head}</th>
        ${count(recovered, recovered.count, recoveredQuery)} ${count(rest, restIn, restQuery)}
        <td class="number">
          ${linked(showRate(visit, rate), rate === undefined ? undefined : rateQuery)}
        </td>
        <td class="amount">
          ${linked(
            formatMoney(visit, shop, amountOf(recovered, shop.currency)),
            recovered.count === 0 ? undefined : recoveredQuery,
          )}
        </td>
      </tr>`;
    });
  const table = html`<div class="wide-table" tabindex="0" role="group" aria-labelledby="${id}">
    <table class="plain">
      <thead>
        <tr>
          <th scope="col">${heading}</th>
          <th scope="col" class="number">Recovered</th>
          <th scope="col" class="number">${restHeading}</th>
          <th scope="col" class="number">Rate</th>
          <th scope="col" class="amount">Recovered amount</th>
        </tr>
      </thead>
      <tbody>
        ${rows}
      </tbody>
    </table>
  </div>`;
  const csv = viewPath(shopPath(shop, '/recovery/charts.csv'), view, { chart: id });
  return html`<section class="chart wide">
    <header>
      <h3 id="${id}">${title}</h3>
      <p class="quiet">${caption}</p>
    </header>
    ${
      groups.length === 0
        ? html`<p class="quiet">Nothing closed in this period.</p>`
        : html`${table}
          ${groups.length > maxRows ? html`<p class="quiet">The ${maxRows} most frequent of ${formatCount(visit, groups.length)} codes. The file has all of them.</p>` : undefined}
          ${csvLink(csv)}`
    }
  </section>`;
}

/** A rate of nothing is none. */
export function showRate(visit: ShopVisit, rate: number | undefined): string {
  return rate === undefined ? '–' : formatShare(visit, rate);
}

export function breakdownFile(
  { shop }: ShopVisit,
  { id, heading, restHeading, groups }: Breakdown,
  now: number,
): Answer<Readable> {
  const heads = [
    heading,
    'Recovered',
    restHeading,
    'Recovery rate',
    'Recovered amount',
    `${restHeading} amount`,
    'Currency',
  ];
  const rows = groups.map(({ name, recovered, rest }): Cell[] => [
    name,
    recovered.count,
    rest.count,
    rateOf(recovered, rest) ?? null,
    amountOf(recovered, shop.currency),
    amountOf(rest, shop.currency),
    shop.currency,
  ]);
  return tableFile({ shop, noun: id, now, heads, rows });
}
