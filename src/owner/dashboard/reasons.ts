import { scaleLinear } from 'd3-scale';
import { type Html, html } from '../../http/html.ts';
import type { ReasonRow } from '../../metrics/cancel-flow/reasons.ts';
import type { Dashboard } from './dashboard.ts';
import type { ShopVisit } from '../pages.ts';
import { shopPath } from '../ui/layout.ts';
import { viewPath } from '../view/view.ts';
import { csvLink } from '../framework/csv.ts';
import { countFormat } from '../ui/locale.ts';
import { outcomeLabels, reasonLabels } from '../ui/labels.ts';

export const outcomes = [
  { field: 'saved', tone: 'plain' },
  { field: 'cancelled', tone: 'bad' },
  { field: 'abandoned', tone: 'quiet' },
] as const;

const totalOf = (row: ReasonRow) => row.saved + row.cancelled + row.abandoned;

/** Cancellation reasons and their outcomes, as a table with bars. */
export function reasonsTable(
  visit: ShopVisit,
  { reasons, view, bases }: Dashboard,
  csv: `/app${string}`,
): Html {
  const format = countFormat(visit);
  const saved = reasons.reduce((sum, row) => sum + row.saved, 0);
  const rows = ({ reason }: ReasonRow, outcome: string) =>
    viewPath(shopPath(visit.shop, '/cancel-flow/sessions'), view, { reason, outcome });
  const max = Math.max(...reasons.map(totalOf), 1);
  const body =
    reasons.length === 0
      ? html`<p class="quiet">No cancel-flow sessions from this period have ended.</p>`
      : html`<table class="reasons">
          <thead>
            <tr>
              <th scope="col">Reason</th>
              <td></td>
              ${outcomes.map(
                ({ field, tone }) =>
                  html`<th scope="col">
                    <span class="series ${tone}">${outcomeLabels[field][0]}</span>
                  </th>`,
              )}
            </tr>
          </thead>
          <tbody>
            ${reasons.map(
              (row) =>
                html`<tr>
                  <th scope="row">
                    <a href="${rows(row, 'ended')}">${reasonLabels[row.reason]}</a>
                  </th>
                  <td class="bar">${bar(row, max)}</td>
                  ${outcomes.map(
                    ({ field }) =>
                      html`<td>
                        <a href="${rows(row, field)}">${format(row[field])}</a>
                      </td>`,
                  )}
                </tr>`,
            )}
          </tbody>
        </table>`;
  return html`<section class="chart wide">
    <h3>
      <small>Reasons and outcomes of the cancel flow</small>
      <span class="headline"
        >${format(bases.sessionsEnded)} sessions ended, ${format(saved)} saved</span
      >
    </h3>
    <p class="quiet">
      Sessions started in the period, UTC, by detected reason and outcome. Those in progress are not
      counted
    </p>
    ${body} ${reasons.length === 0 ? undefined : csvLink(csv)}
  </section>`;
}

function bar(row: ReasonRow, max: number): Html {
  const x = scaleLinear([0, max], [0, 100]);
  let offset = 0;
  const parts = outcomes.map(({ field, tone }) => {
    const [start, end] = [x(offset), x(offset + row[field])];
    offset += row[field];
    return html`<rect
      class="${tone}"
      x="${start.toFixed(2)}"
      width="${(end - start).toFixed(2)}"
      y="0"
      height="8"
    />`;
  });
  return html`<svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
    ${parts}
  </svg>`;
}
