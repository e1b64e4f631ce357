import type { Answer } from '../../http/answer.ts';
import { type Html, html } from '../../http/html.ts';
import { arrivals, lastArrival } from './arrivals.ts';
import { page } from '../ui/answers.ts';
import { type Asset, readAsset } from '../ui/assets.ts';
import type { Dashboard } from './dashboard.ts';
import { figureCards } from './cards.ts';
import { chartSection } from './chart-sections.ts';
import type { ShopVisit } from '../pages.ts';
import { layout } from '../ui/layout.ts';
import { showTime } from '../ui/times.ts';

export const dashboardAssets: readonly Asset[] = [
  readAsset('dashboard.css', import.meta.url),
  readAsset('charts.js', import.meta.url),
];

/** @param data undefined for a shop of which nothing is known yet */
export function dashboardPage(visit: ShopVisit, data: Dashboard | undefined): Answer {
  const { shop } = visit;
  const content = html`
    ${data ? filled(visit, data) : empty(visit)}
    <p class="quiet">Shop number ${shop.id}, amounts in ${shop.currency}.</p>
  `;
  return page(
    layout(visit, {
      title: 'Overview',
      content,
      shop,
      current: 'overview',
      assets: dashboardAssets,
    }),
  );
}

function filled(visit: ShopVisit, data: Dashboard): Html {
  const { summary, feeds } = data;
  const cameAt = lastArrival(feeds);
  return html`<p class="quiet asof">
      As of ${showTime(visit, new Date(summary.generatedAt))}. Changes are against 30 days before.
      ${cameAt && html`Data last came ${showTime(visit, cameAt)}.`}
    </p>
    ${figureCards(visit, data)} ${chartSection(visit, data)}
    ${feeds.length > 0 ? arrivals(visit, feeds) : undefined}`;
}

function empty({ shop }: ShopVisit): Html {
  return html`<section class="card">
    <h2>Nothing has been imported yet</h2>
    <p>Whoever runs this service brings the shop’s records in with one command:</p>
    <pre><code>retention import --shop ${shop.id} FILE</code></pre>
    <p class="after">
      The file has one record a line: plans, subscriptions, payments, refunds and cancel-flow
      sessions. It can be imported again at any time; what is known already is not counted twice.
    </p>
    <h3>What will be here</h3>
    <ul>
      <li>How many subscribers are active, paused and new</li>
      <li>Monthly recurring revenue, and what was paid in the last 30 days</li>
      <li>Payments that failed, and how many were recovered</li>
      <li>How many customers leave, and why; how many the cancel flow saved</li>
      <li>What renews in the next days, and what it is worth</li>
    </ul>
    <p>Each with its course over 30, 90 and 365 days.</p>
  </section>`;
}
