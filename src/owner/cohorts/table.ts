import { type Html, html } from '../../http/html.ts';
import type { Cohort } from '../../metrics/cohorts.ts';
import type { ShopVisit } from '../pages.ts';
import { hiddenRest } from '../ui/elements.ts';
import {
  countFormat,
  formatRate,
  formatShare,
  localeOf,
  moneyFormat,
  numberFormat,
} from '../ui/formats.ts';
import { type CohortView, monthFormat, cohortPath } from './view.ts';
import { averageShare, monthsOver, rateOf, shareOf, sizeOf, valuesOf } from './shares.ts';

/** Steps of the colours. */
const steps = 5;
const stepOf = (share: number) => Math.min(Math.max(Math.round(share * steps), 0), steps);

/** Cohorts against months since, with the size of each value as its colour. A script says what rates are of. */
export function heatmap(
  visit: ShopVisit,
  view: CohortView,
  cohorts: readonly Cohort[],
  now: number,
): Html {
  const { measure, unit } = view;
  const count = Math.max(...cohorts.map(({ retained }) => retained.length));
  const months = Array.from({ length: count }, (_, since) => since);
  const percent = (share: number) => formatShare(visit, share);
  const counts = countFormat(visit);
  const format = measure === 'customers' ? counts : moneyFormat(visit);
  const whole = numberFormat(localeOf(visit), {
    ...(measure !== 'customers' && { style: 'currency', currency: visit.shop.currency }),
    maximumFractionDigits: 0,
  }).format;
  const name = monthFormat(visit, 'short');
  const cell = (cohort: Cohort, value: number, since: number) => {
    const share = shareOf(cohort, measure, since);
    const isOver = since < monthsOver(cohort, now);
    const rate = share !== undefined && formatRate(visit, rateOf(measure, share, cohort.customers));
    const shown = unit === 'share' ? rate || '–' : value < 100 ? format(value) : whole(value);
    const look = `h${stepOf(share ?? 0)}${isOver ? '' : ' open'}`;
    return html`<td class="${look}">${shown}${!isOver && hiddenRest('so far')}</td>`;
  };
  // More would make the page heavier than 40 kB.
  const saysCounts = unit === 'share' && measure === 'customers' && cohorts.length <= 24;
  const head = ({ month }: Cohort) => {
    const path = membersPath(visit, view, month);
    // Relative to the page of the cohorts, for its weight.
    const href = path?.replace(/^.*?(?=cohorts)/, '');
    return href === undefined ? name(month) : html`<a href="${href}">${name(month)}</a>`;
  };
  return html`<div
      class="heatmap"
      tabindex="0"
      role="group"
      aria-label="Cohorts by month since the first subscription"
    >
      <table class="cohorts">
        <thead>
          <tr>
            <th scope="col" rowspan="2">Cohort</th>
            <th scope="col" rowspan="2">${measure === 'customers' ? 'Customers' : 'First MRR'}</th>
            <th scope="colgroup" colspan="${count}">Months since</th>
          </tr>
          <tr>
            ${months.map((since) => html`<th scope="col" data-sets="kept=${since}">${since}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${cohorts.map(
            (cohort) =>
              html`<tr${saysCounts && html` data-values="${valuesOf(cohort, measure).map(format).join('|')}"`}>
                <th scope="row">${head(cohort)}</th>
                <td>${format(sizeOf(cohort, measure))}</td>
                ${valuesOf(cohort, measure).map((value, since) => cell(cohort, value, since))}
              </tr>`,
          )}
        </tbody>
        ${
          unit === 'share' &&
          html`<tfoot>
            <tr>
              <th scope="row">Average</th>
              <td></td>
              ${months.map((since) => {
                const rate = averageShare(cohorts, measure, since, now);
                return html`<td>${rate ? formatRate(visit, rate) : '–'}</td>`;
              })}
            </tr>
          </tfoot>`
        }
      </table>
    </div>
    <p class="legend" aria-hidden="true">
      ${percent(0)}
      ${Array.from({ length: steps + 1 }, (_, step) => html`<span class="h${step}"></span>`)}
      ${percent(1)} <span class="open"></span> this month, so far
    </p>`;
}

/**
 * The list of a cohort's customers; of those kept in a month since, if one is given, and gone in another. Undefined for
 * a segment of anything but a plan, which the list does not know.
 */
export function membersPath(
  visit: ShopVisit,
  { segment = {} }: CohortView,
  month: string,
  since?: number,
  gone?: number,
): `/app${string}` | undefined {
  const { plan, ...others } = segment;
  if (Object.keys(others).length > 0) return undefined;
  return cohortPath(visit.shop, { plan, kept: since, gone }, `/${month}/customers`);
}
