import { html } from '../../http/html.ts';
import { chartAssets } from '../charts/assets.ts';
import { type FiguresVisit, definePage, nothingYet, period } from '../framework/figures.ts';
import type { ShopVisit } from '../pages.ts';
import { readAsset } from '../ui/assets.ts';
import { help, helpAssets } from '../ui/help.ts';
import { formatMoney } from '../ui/locale.ts';
import { dataBegins } from '../view/earlier.ts';
import { showPeriod } from '../view/picker.ts';
import { revenueCharts } from './charts.ts';
import { movementsTable } from './movements.ts';
import { type Revenue, type RevenueSpan, readRevenue } from './revenue.ts';

export const revenueAssets = [readAsset('revenue.css', import.meta.url)];

/** What changed the revenue, and the renewals to come. */
export const revenue = definePage({
  path: '/revenue',
  title: 'Revenue',
  navigation: { group: 'Insights', icon: 'revenue', isInBar: true },
  assets: [...chartAssets, ...helpAssets, ...revenueAssets],
  pickers: period,
  files: { path: '/revenue.csv', by: 'table' },
  read: ({ parts: { store }, shop, view }) => readRevenue(store, shop, view),
  answer,
  exhibits: (visit, data) => [movementsTable(visit, data), ...revenueCharts(visit, data)],
  body: (_visit, _data, [movements, mrr, came, paid, ...renewals]) =>
    html`<div class="grid">
        ${movements}
        <div class="wide">${mrr}</div>
        ${came} ${paid}
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
        <div class="grid">${renewals}</div>
      </section>`,
  empty: (visit) =>
    nothingYet(
      visit,
      'No data yet',
      'Revenue appears here: what changed it, and the renewals to come, once a source brings subscriptions.',
    ),
});

function answer(visit: FiguresVisit, { whole: now, wholeBefore: before, firstDay }: Revenue) {
  const { shop, view } = visit;
  const money = (amount: number) => formatMoney(visit, shop, amount);
  return html`<p class="answer">
      MRR ${growthOf(visit, now)}: ${money(now.came)} came, ${money(now.left)} left.
    </p>
    <p class="quiet">
      ${showPeriod(visit, view.period)},
      ${
        before
          ? html`compared with ${showPeriod(visit, view.before)}, when it
            ${growthOf(visit, before)}.`
          : `${dataBegins(visit, firstDay)}.`
      }
      Days in UTC, amounts in ${shop.currency}.
    </p>`;
}

function growthOf(visit: ShopVisit, { growth }: RevenueSpan): string {
  const size = formatMoney(visit, visit.shop, Math.abs(growth));
  if (growth === 0) return 'did not change';
  return growth > 0 ? `grew by ${size}` : `fell by ${size}`;
}
