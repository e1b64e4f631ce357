import { scaleLinear } from 'd3-scale';
import { type ChurnGroup, ageBands } from '../../metrics/churn.ts';
import { type Html, html } from '../../http/html.ts';
import type { ShopVisit } from '../pages.ts';
import { reasonLabels } from '../ui/labels.ts';
import { shopPath } from '../ui/layout.ts';
import { csvLink } from '../framework/csv.ts';
import { countFormat, formatShare } from '../ui/locale.ts';
import { viewPath } from '../view/view.ts';
import { ageLabels } from './labels.ts';
import type { Churn } from './read.ts';

/** Those that left, told apart in one way. */
export interface ChurnTable {
  /** Also its name in addresses and files. */
  readonly id: 'plans' | 'ages' | 'reasons';
  readonly title: string;
  readonly caption: string;
  readonly heading: string;
  /** What the counts are of. */
  readonly counted: string;
  readonly rows: readonly TableRow[];
}

interface TableRow {
  readonly label: string;
  /** Where the rows are that it counts. */
  readonly href: `/app${string}`;
  readonly count: number;
  /** Of these, those lost to failed payments, where that is known. */
  readonly failed?: number;
}

/** Whether it says how many were lost to failed payments: a reason is of a session. */
export const hasCauses = ({ id }: ChurnTable) => id !== 'reasons';

/** More rows than anyone compares; the file has all. */
const maxRows = 20;

export function tablesOf(visit: ShopVisit, churn: Churn): ChurnTable[] {
  const left = (more: Readonly<Record<string, string>>) =>
    viewPath(shopPath(visit.shop, '/churn/left'), churn.view, more);
  const { groups, planNames, reasons } = churn;
  const plans = [...Map.groupBy(groups, ({ planId }) => planId)].map(([planId, of]) => ({
    label: planNames.get(planId) ?? `Plan ${planId}`,
    href: left({ 'left-plan': String(planId) }),
    ...sumsOf(of),
  }));
  const byAge = Map.groupBy(groups, ({ age }) => age.name);
  return [
    {
      id: 'plans',
      title: 'By plan',
      caption: 'The plan of the subscription that left',
      heading: 'Plan',
      counted: 'Left',
      rows: plans.toSorted((a, b) => b.count - a.count || a.label.localeCompare(b.label, 'en')),
    },
    {
      id: 'ages',
      title: 'By age',
      caption: 'How long the subscription had existed when it left',
      heading: 'Age',
      counted: 'Left',
      rows: ageBands.map(({ name }) => ({
        label: ageLabels[name],
        href: left({ 'left-age': name }),
        ...sumsOf(byAge.get(name) ?? []),
      })),
    },
    {
      id: 'reasons',
      title: 'By reason',
      caption:
        'Detected in the cancel flow: sessions started in the period that ended cancelled. Those who left in another way gave no reason',
      heading: 'Reason',
      counted: 'Sessions',
      rows: reasons
        .filter(({ cancelled }) => cancelled > 0)
        .map(({ reason, cancelled }) => ({
          label: reasonLabels[reason],
          href: viewPath(shopPath(visit.shop, '/cancel-flow/sessions'), churn.view, {
            outcome: 'cancelled',
            reason,
          }),
          count: cancelled,
        }))
        .toSorted((a, b) => b.count - a.count),
    },
  ];
}

function sumsOf(groups: readonly ChurnGroup[]) {
  const failed = groups.filter(({ cause }) => cause === 'failed');
  return { count: totalOf(groups), failed: totalOf(failed) };
}

const totalOf = (rows: readonly Readonly<Record<'count', number>>[]) =>
  rows.reduce((total, { count }) => total + count, 0);

export function breakdown(visit: ShopVisit, table: ChurnTable, csv: `/app${string}`): Html {
  const { id, title, caption, rows } = table;
  const more = rows.length - maxRows;
  return html`<section class="chart" aria-labelledby="${id}">
    <h3 id="${id}">${title}</h3>
    <p class="quiet">${caption}.</p>
    ${
      totalOf(rows) === 0
        ? html`<p class="quiet none">None in this period.</p>`
        : html`${rowsOf(visit, table)}
          ${more > 0 ? html`<p class="quiet">${more} more in the file.</p>` : undefined}
          ${csvLink(csv)}`
    }
  </section>`;
}

function rowsOf(visit: ShopVisit, table: ChurnTable): Html {
  const { heading, counted, rows } = table;
  const causes = hasCauses(table);
  const format = countFormat(visit);
  const total = totalOf(rows);
  const most = Math.max(...rows.map(({ count }) => count));
  return html`<table class="reasons shares">
    <thead>
      <tr>
        <th scope="col">${heading}</th>
        <td></td>
        <th scope="col">${counted}</th>
        ${causes ? html`<th scope="col"><span class="series bad">Failed</span></th>` : undefined}
        <th scope="col">Share</th>
      </tr>
    </thead>
    <tbody>
      ${rows.slice(0, maxRows).map(
        ({ label, href, count, failed }) =>
          html`<tr>
            <th scope="row">${count === 0 ? label : html`<a href="${href}">${label}</a>`}</th>
            <td class="bar">${bar(count, failed ?? 0, most)}</td>
            <td>${format(count)}</td>
            ${causes ? html`<td>${format(failed ?? 0)}</td>` : undefined}
            <td>${formatShare(visit, Math.round((count / total) * 1000) / 1000)}</td>
          </tr>`,
      )}
    </tbody>
  </table>`;
}

/** Those lost to failed payments at the end. */
function bar(count: number, failed: number, most: number): Html {
  const x = scaleLinear([0, most], [0, 100]);
  const rest = x(count - failed);
  return html`<svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
    <rect class="plain" x="0" width="${rest.toFixed(2)}" y="0" height="8" />
    <rect class="bad" x="${rest.toFixed(2)}" width="${x(failed).toFixed(2)}" y="0" height="8" />
  </svg>`;
}
