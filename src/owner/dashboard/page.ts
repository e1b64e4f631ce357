import { tiers } from '../../access/tiers.ts';
import type { Answer } from '../../http/answer.ts';
import { type Html, html } from '../../http/html.ts';
import { feedsOf } from '../../platforms/feeds.ts';
import { platforms } from '../../platforms/registry.ts';
import type { FeedStatus } from '../../store/feeds/feeds.ts';
import { arrivals, lastArrival, syncProblems } from './arrivals.ts';
import { page } from '../ui/answers.ts';
import type { Asset } from '../../http/look/asset.ts';
import { readAsset } from '../ui/assets.ts';
import type { Dashboard } from './dashboard.ts';
import { chartAssets } from '../charts/assets.ts';
import { sampleFigures } from './sample.ts';
import { figureCards } from './cards.ts';
import { chartSection } from './chart-sections.ts';
import type { SyncProblem } from '../../platforms/sync/problems.ts';
import type { ShopVisit } from '../pages.ts';
import type { Source } from '../sources/sources.ts';
import { layout, shopPath } from '../ui/layout.ts';
import { showTime } from '../ui/times.ts';

export const dashboardAssets: readonly Asset[] = [readAsset('dashboard.css', import.meta.url)];

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
      assets: [...chartAssets, ...dashboardAssets],
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
  const arrives =
    connected && problems.length === 0
      ? html`<p>
            ${connected.platform.title} is connected. Figures appear here as soon as the first sync
            brings data.
          </p>
          <p><a class="button" href="${path}">See how far it is</a></p>`
      : undefined;
  return html`<section class="card">
      <h2>No data yet</h2>
      ${connected ? arrives : waysIn(visit, sources)}
    </section>
    <section class="sample">
      <h2>What you will see here</h2>
      <p class="quiet">These are sample figures of a made-up shop, not yours.</p>
      <div inert>${figureCards(visit, sampleFigures(shop))}</div>
    </section>`;
}

/** How data can come into a shop that has none. */
function waysIn({ shop }: ShopVisit, sources: readonly Source[]): Html {
  const path = shopPath(shop, '/sources');
  const free = sources.filter(({ state }) => state === 'free');
  return html`
    ${free.map(
      ({ platform: { name, title } }) =>
        html`<h3>From ${title}</h3>
          <p>Connect your shop, and its subscriptions, plans and payments arrive by themselves.</p>
          <p><a class="button" href="${path}#${name}">Connect ${title}</a></p>`,
    )}
    ${
      tiers[shop.tier].hasApiAccess
        ? html`<h3>From your own systems</h3>
            <p>
              Create an address that takes your records, and hand it to your developer together with
              its secret.
            </p>
            <p><a class="button" href="${path}/push/new">Create push source</a></p>`
        : undefined
    }
    <h3>From a file</h3>
    <p>Your developer, or the operator of this service, imports the shop’s records.</p>
    <details>
      <summary>For your developer</summary>
      <pre><code>retention import --shop ${shop.id} FILE</code></pre>
      <p class="after">
        The file has one record per line: plans, subscriptions, payments, refunds and cancel-flow
        sessions. Importing it again is safe: no record is counted twice.
      </p>
    </details>
  `;
}
