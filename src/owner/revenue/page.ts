import type { Answer } from '../../http/answer.ts';
import { type Html, html } from '../../http/html.ts';
import { chartAssets } from '../charts/assets.ts';
import { type Chart, chart } from '../charts/chart.ts';
import type { ShopVisit } from '../pages.ts';
import { page } from '../ui/answers.ts';
import { readAsset } from '../ui/assets.ts';
import { help, helpAssets } from '../ui/help.ts';
import { layout, shopPath, sourcesLink } from '../ui/layout.ts';
import { formatMoney } from '../ui/locale.ts';
import { dataBegins } from '../view/earlier.ts';
import { periodPicker, showPeriod } from '../view/picker.ts';
import { type View, viewPath } from '../view/view.ts';
import { revenueCharts } from './charts.ts';
import { movementsTable } from './movements.ts';
import { type Revenue, type RevenueSpan } from './revenue.ts';

export const revenueAssets = [readAsset('revenue.css', import.meta.url)];

/** @param revenue undefined for a shop without data */
export function revenuePage(visit: ShopVisit, view: View, revenue: Revenue | undefined): Answer {
  const { shop } = visit;
  const content = html`${periodPicker(visit, view, shopPath(shop, '/revenue'))}
  ${revenue ? figures(visit, view, revenue) : nothingYet(visit)}`;
  const assets = [...chartAssets, ...helpAssets, ...revenueAssets];
  return page(layout(visit, { title: 'Revenue', content, assets }));
}

function nothingYet(visit: ShopVisit): Html {
  return html`<div class="card">
    <h2>No data yet</h2>
    <p>
      Revenue appears here: what changed it, and the renewals to come, once a source brings
      subscriptions.
    </p>
    <p>${sourcesLink(visit)}</p>
  </div>`;
}

function figures(visit: ShopVisit, view: View, revenue: Revenue): Html {
  const { shop } = visit;
  const { whole: now, wholeBefore: before } = revenue;
  const draw = (each: Chart) =>
    chart(each, viewPath(shopPath(shop, '/revenue.csv'), view, { table: each.id }));
  const [mrr, ...others] = revenueCharts(visit, view, revenue);
  return html`<p class="answer">${answer(visit, now)}</p>
    <p class="quiet">
      ${showPeriod(visit, view.period)},
      ${
        before
          ? html`compared with ${showPeriod(visit, view.before)}, when it
            ${growthOf(visit, before)}.`
          : `${dataBegins(visit, revenue.firstDay)}.`
      }
      Days in UTC, amounts in ${shop.currency}.
    </p>
    <div class="grid">
      ${movementsTable(visit, view, revenue)} ${mrr && html`<div class="wide">${draw(mrr)}</div>`}
      ${others.filter((each) => !isProjection(each)).map(draw)}
    </div>
    <section class="projection" id="renewals">
      <h2>
        Renewals to come
        ${help(
          'projection',
          'Renewals to come',
          'Active subscriptions by their next billing date, and from there on by their billing interval. A week counts each subscription once.',
        )}
      </h2>
      <p class="quiet">
        A projection from what is known now. Overdue and paused subscriptions are not in it, and
        cancellations, pauses and failed payments to come are not guessed.
      </p>
      <div class="grid">${others.filter(isProjection).map(draw)}</div>
    </section>`;
}

const isProjection = ({ id }: Chart) => id.startsWith('chart-renewals');

function growthOf(visit: ShopVisit, { growth }: RevenueSpan): string {
  const size = formatMoney(visit, visit.shop, Math.abs(growth));
  if (growth === 0) return 'did not change';
  return growth > 0 ? `grew by ${size}` : `fell by ${size}`;
}

function answer(visit: ShopVisit, now: RevenueSpan): string {
  const money = (amount: number) => formatMoney(visit, visit.shop, amount);
  return `MRR ${growthOf(visit, now)}: ${money(now.came)} came, ${money(now.left)} left.`;
}
