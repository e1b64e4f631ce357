import type { Answer } from '../../http/answer.ts';
import { type Html, html } from '../../http/html.ts';
import type { Asset } from '../../http/look/asset.ts';
import { feedsOf } from '../../platforms/feeds.ts';
import { platforms } from '../../platforms/registry.ts';
import type { FeedStatus } from '../../store/feeds/feeds.ts';
import { chartAssets } from '../charts/assets.ts';
import type { ShopVisit } from '../pages.ts';
import type { SegmentChoices } from '../segments/choices.ts';
import { segmentPicker } from '../segments/picker.ts';
import { page } from '../ui/answers.ts';
import { readAsset } from '../ui/assets.ts';
import { helpAssets } from '../ui/help.ts';
import { layout, shopPath } from '../ui/layout.ts';
import { csvLink } from '../framework/csv.ts';
import { showTime } from '../ui/times.ts';
import { periodPicker } from '../view/picker.ts';
import { viewPath } from '../view/view.ts';
import { arrivals, lastArrival } from './arrivals.ts';
import { type Concerns, attention } from './attention.ts';
import { chartSection } from './chart-sections.ts';
import type { Dashboard } from './dashboard.ts';
import { figureRows, heroFigures } from './rows.ts';
import { type Judged, rules, threshold, verdictOf } from './verdict.ts';
import { wordsOf } from './words.ts';

export const dashboardAssets: readonly Asset[] = [readAsset('dashboard.css', import.meta.url)];

export function dashboardPage(
  visit: ShopVisit,
  data: Dashboard,
  choices: SegmentChoices,
  concerns: Concerns,
): Answer {
  const { summary, feeds, view, firstDay } = data;
  const { shop } = visit;
  const home = shopPath(shop);
  const isCurrent = view.period.until === view.now;
  // Needs attention whatever is chosen; a segment knows only its own.
  const outstanding = isCurrent && !view.segment ? summary.dunningActive : undefined;
  const receivedAt = lastArrival(feeds);
  return overviewPage(
    visit,
    html`${periodPicker(visit, view, home)} ${verdict(visit, data)}
      ${attention(visit, concerns, { outstanding, now: view.now })} ${heroFigures(visit, data)}
      ${figureRows(visit, data)}
      <div class="figures-file">
        ${csvLink(viewPath(shopPath(shop, '/charts.csv'), view, { chart: 'figures' }))}
      </div>
      ${chartSection(visit, data)}
      ${arrivals(visit, feeds, { link: html`<a href="${shopPath(shop, '/sources')}">Manage sources</a>` })}
      <p class="quiet">
        As of ${showTime(visit, new Date(summary.generatedAt))}.
        ${receivedAt && html`Data last received ${showTime(visit, receivedAt)}.`}
        ${
          firstDay > view.before.from
            ? html`The first data is from ${showTime(visit, new Date(firstDay))}.`
            : undefined
        }
        ${feeds.some(isFirstSync) ? 'The first sync is still running, so figures are too low.' : undefined}
      </p>`,
    // Beside the title, it takes no room on a phone.
    segmentPicker(visit, view.segment, choices, home),
  );
}

export function overviewPage(visit: ShopVisit, main: Html, action?: Html): Answer {
  const { shop } = visit;
  const content = html`
    ${main}
    <p class="quiet">Shop ID ${shop.id}. All amounts in ${shop.currency}.</p>
  `;
  return page(
    layout(visit, {
      title: 'Overview',
      content,
      action,
      assets: [...chartAssets, ...helpAssets, ...dashboardAssets],
    }),
  );
}

/** The answer in words, and how it is made. */
export function verdict(visit: ShopVisit, judged: Judged): Html {
  return html`<section class="summary" aria-label="Verdict">
    <p class="answer">
      ${verdictOf(judged, wordsOf(visit)).map((each, index) => html`${index === 0 ? html`<strong>${each}</strong>` : each} `)}
    </p>
    <details>
      <summary>How this is made</summary>
      <ol>
        ${rules.map(({ explained }) => html`<li>${explained}</li>`)}
      </ol>
      <p>${threshold}</p>
    </details>
  </section>`;
}

/** Whether a platform has been read in part, but never completely. */
function isFirstSync({ feed, completedAt }: FeedStatus): boolean {
  return completedAt === null && platforms.some((each) => feedsOf(each).sync === feed);
}
