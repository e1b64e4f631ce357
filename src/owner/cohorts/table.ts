import { type Html, html } from '../../http/html.ts';
import type { Cohort } from '../../metrics/cohorts.ts';
import type { ShopVisit } from '../pages.ts';
import { hiddenRest } from '../ui/elements.ts';
import { countFormat, formatRate, formatShare, moneyFormat } from '../ui/formats.ts';
import { type CohortView, monthFormat, cohortPath } from './view.ts';
import { averageShare, monthsOver, rateOf, shareOf, sizeOf, valuesOf } from './shares.ts';

/** Steps of the colours. */
const steps = 5;
const stepOf = (share: number) => Math.min(Math.max(Math.round(share * steps), 0), steps);

/** Cohorts against months since, with the size of each value as its colour. */
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
  const name = monthFormat(visit, 'short');
  const cell = (cohort: Cohort, since: number) => {
    const value = valuesOf(cohort, measure)[since];
    if (value === undefined) return html`<td></td>`;
    const share = shareOf(cohort, measure, since);
    const isOver = since < monthsOver(cohort, now);
    const rate = share !== undefined && formatRate(visit, rateOf(measure, share, cohort.customers));
    const shown = unit === 'share' ? rate || '–' : format(value);
    const content = html`${shown}${!isOver && hiddenRest('so far')}`;
    const title =
      unit === 'share' ? `${format(value)} of ${format(sizeOf(cohort, measure))}` : undefined;
    const link = linked(membersPath(visit, view, cohort.month, since), content, title);
    return html`<td class="heat-${stepOf(share ?? 0)}${isOver ? '' : ' open'}">${link}</td>`;
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
            ${months.map((since) => html`<th scope="col">${since}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${cohorts.map(
            (cohort) =>
              html`<tr>
                <th scope="row">
                  ${linked(membersPath(visit, view, cohort.month), html`${name(cohort.month)}`)}
                </th>
                <td>${format(sizeOf(cohort, measure))}</td>
                ${months.map((since) => cell(cohort, since))}
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
      ${Array.from({ length: steps + 1 }, (_, step) => html`<span class="heat-${step}"></span>`)}
      ${percent(1)} <span class="open"></span> this month, so far
    </p>`;
}

function linked(path: `/app${string}` | undefined, content: Html, title?: string): Html {
  const titled = title && html` title="${title}"`;
  // Relative to the page of the cohorts, which has hundreds of them.
  return path === undefined
    ? html`<span${titled}>${content}</span>`
    : html`<a${titled} href="${path.replace(/^.*?(?=cohorts)/, '')}">${content}</a>`;
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
  return cohortPath(
    visit.shop,
    {
      ...(plan === undefined ? {} : { plan: String(plan) }),
      ...(since === undefined ? {} : { kept: String(since) }),
      ...(gone === undefined ? {} : { gone: String(gone) }),
    },
    `/${month}/customers`,
  );
}
