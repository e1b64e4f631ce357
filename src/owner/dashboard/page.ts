import type { Answer } from '../../http/answer.ts';
import { type Html, html } from '../../http/html.ts';
import { arrivals, lastArrival, syncProblems } from './arrivals.ts';
import { page } from '../ui/answers.ts';
import { type Asset, readAsset } from '../ui/assets.ts';
import type { Dashboard } from './dashboard.ts';
import { figureCards } from './cards.ts';
import { chartSection } from './chart-sections.ts';
import type { SyncProblem } from '../../platforms/sync/problems.ts';
import type { ShopVisit } from '../pages.ts';
import { layout } from '../ui/layout.ts';
import { showTime } from '../ui/times.ts';

export const dashboardAssets: readonly Asset[] = [
  readAsset('dashboard.css', import.meta.url),
  readAsset('charts.js', import.meta.url),
];

/** @param data undefined for a shop without data */
export function dashboardPage(
  visit: ShopVisit,
  data: Dashboard | undefined,
  problems: readonly SyncProblem[],
): Answer {
  const { shop } = visit;
  const content = html`
    ${data ? overview(visit, data, problems) : html`${syncProblems(visit, problems)} ${emptyState(visit)}`}
    <p class="quiet">Shop ID ${shop.id}. All amounts in ${shop.currency}.</p>
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

function overview(visit: ShopVisit, data: Dashboard, problems: readonly SyncProblem[]): Html {
  const { summary, feeds } = data;
  const receivedAt = lastArrival(feeds);
  return html`<p class="quiet as-of">
      As of ${showTime(visit, new Date(summary.generatedAt))}. Changes compare with 30 days earlier.
      ${receivedAt && html`Data last received ${showTime(visit, receivedAt)}.`}
    </p>
    ${figureCards(visit, data)} ${chartSection(visit, data)}
    ${feeds.length > 0 ? arrivals(visit, feeds, syncProblems(visit, problems)) : undefined}`;
}

function emptyState({ shop }: ShopVisit): Html {
  return html`<section class="card">
    <h2>No data yet</h2>
    <p>The operator of this service imports the shop’s records with one command:</p>
    <pre><code>retention import --shop ${shop.id} FILE</code></pre>
    <p class="after">
      The file has one record per line: plans, subscriptions, payments, refunds and cancel-flow
      sessions. Importing it again is safe: no record is counted twice.
    </p>
    <h3>What you will see here</h3>
    <ul>
      <li>Active, paused and new subscribers</li>
      <li>Monthly recurring revenue, and revenue of the last 30 days</li>
      <li>Failed payments, and how many were recovered</li>
      <li>Cancellations, their reasons, and how many customers the cancel flow saved</li>
      <li>Upcoming renewals and their value</li>
    </ul>
    <p>Charts show the last 30, 90 and 365 days.</p>
  </section>`;
}
