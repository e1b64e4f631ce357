import type { Answer } from '../../http/answer.ts';
import { type Html, html } from '../../http/html.ts';
import { feedsOf } from '../../platforms/feeds.ts';
import { platforms } from '../../platforms/registry.ts';
import type { FeedStatus } from '../../store/feeds/feeds.ts';
import type { Shop } from '../../store/shops.ts';
import { arrivals, lastArrival, syncProblems } from './arrivals.ts';
import { page } from '../ui/answers.ts';
import { type Asset, readAsset } from '../ui/assets.ts';
import type { Dashboard } from './dashboard.ts';
import { figureCards } from './cards.ts';
import { chartSection } from './chart-sections.ts';
import type { SyncProblem } from '../../platforms/sync/problems.ts';
import type { ShopVisit } from '../pages.ts';
import type { Source } from '../sources/sources.ts';
import { layout, shopPath } from '../ui/layout.ts';
import { showTime } from '../ui/times.ts';

export const dashboardAssets: readonly Asset[] = [
  readAsset('dashboard.css', import.meta.url),
  readAsset('charts.js', import.meta.url),
];

export function dashboardPage(
  visit: ShopVisit,
  data: Dashboard,
  problems: readonly SyncProblem[],
): Answer {
  return overviewPage(visit, overview(visit, data, problems));
}

/** For a shop without data. */
export function emptyDashboardPage(
  visit: ShopVisit,
  sources: readonly Source[],
  problems: readonly SyncProblem[],
): Answer {
  return overviewPage(
    visit,
    html`${syncProblems(visit, problems)} ${emptyState(visit, sources, problems)}`,
  );
}

function overviewPage(visit: ShopVisit, main: Html): Answer {
  const { shop } = visit;
  const content = html`
    ${main}
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
      ${feeds.some(isFirstSync) ? 'The first sync is still running, so figures are too low.' : undefined}
    </p>
    ${figureCards(visit, data)} ${chartSection(visit, data)}
    ${feeds.length > 0 ? arrivals(visit, feeds, { problems: syncProblems(visit, problems) }) : undefined}
    <p><a href="${shopPath(visit.shop, '/sources')}">Manage sources</a></p>`;
}

/** Whether a platform has been read in part, but never completely. */
function isFirstSync({ feed, completedAt }: FeedStatus): boolean {
  return completedAt === null && platforms.some((each) => feedsOf(each).sync === feed);
}

function emptyState(
  visit: ShopVisit,
  sources: readonly Source[],
  problems: readonly SyncProblem[],
): Html {
  const { shop } = visit;
  const path = shopPath(shop, '/sources');
  const connected = sources.find(({ state }) => state === 'connected');
  const free = sources.filter(({ state }) => state === 'free');
  return html`<section class="card">
    <h2>No data yet</h2>
    ${
      connected && problems.length === 0
        ? html`<p>
              ${connected.platform.title} is connected. Figures appear here as soon as the first
              sync brings data.
            </p>
            <p><a class="button" href="${path}">See how far it is</a></p>`
        : undefined
    }
    ${
      !connected && free.length > 0
        ? html`<p>
              Connect your shop, and its subscriptions, plans and payments arrive by themselves.
            </p>
            <p>
              ${free.map(
                ({ platform }) =>
                  html`<a class="button" href="${path}#${platform.name}"
                    >Connect ${platform.title}</a
                  > `,
              )}
            </p>
            <h3>From a file</h3>`
        : undefined
    }
    ${connected ? undefined : importHint(shop)}
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

function importHint({ id }: Shop): Html {
  return html`<p>The operator of this service imports the shop’s records with one command:</p>
    <pre><code>retention import --shop ${id} FILE</code></pre>
    <p class="after">
      The file has one record per line: plans, subscriptions, payments, refunds and cancel-flow
      sessions. Importing it again is safe: no record is counted twice.
    </p>`;
}
