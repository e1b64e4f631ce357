import { type Html, html } from '../../http/html.ts';
import type { FeedStatus } from '../../store/feeds/feeds.ts';
import { showTime } from '../ui/times.ts';
import type { Visit } from '../visit.ts';
import { feedLabel } from '../../platforms/feeds.ts';
import type { SyncProblem } from '../../platforms/sync/problems.ts';
import { shopPath } from '../ui/layout.ts';
import type { ShopVisit } from '../pages.ts';

/** When any feed last received data. */
export function lastArrival(feeds: readonly FeedStatus[]): Date | undefined {
  const times = feeds.flatMap(({ arrivedAt }) => arrivedAt ?? []);
  return times.toSorted((one, other) => one.getTime() - other.getTime()).at(-1);
}

interface ArrivalsOptions {
  readonly title?: string;
  /** Shown above the table. */
  readonly problems?: readonly Html[];
}

/** Shows data freshness by source. */
export function arrivals(
  visit: Visit,
  feeds: readonly FeedStatus[],
  { title = 'Data sources', problems = [] }: ArrivalsOptions = {},
): Html {
  const time = (at: Date | null) => (at ? showTime(visit, at) : 'Not yet');
  return html`<section class="arrivals">
    <h2>${title}</h2>
    ${[...problems]}
    <table>
      <thead>
        <tr>
          <th scope="col">Source</th>
          <th scope="col">Last received</th>
          <th scope="col">Newest change</th>
          <th scope="col">Last completed</th>
        </tr>
      </thead>
      <tbody>
        ${feeds.map(
          ({ feed, arrivedAt, newestAt, completedAt }) =>
            html`<tr>
              <th scope="row">${feedLabel(feed)}</th>
              <td data-label="Last received">${time(arrivedAt)}</td>
              <td data-label="Newest change">${time(newestAt)}</td>
              <td data-label="Last completed">${time(completedAt)}</td>
            </tr>`,
        )}
      </tbody>
    </table>
  </section>`;
}

/** Why data from a platform does not arrive, in words for owners. */
export function syncProblems(visit: ShopVisit, problems: readonly SyncProblem[]): Html[] {
  return problems.map(({ platform: { name, title }, kind, since }) => {
    const reasons: Readonly<Record<SyncProblem['kind'], Html>> = {
      refused: html`${title} no longer lets us read this shop. Nothing new has arrived since
      ${since ? showTime(visit, since) : 'then'}.`,
      paused: html`The app is no longer installed at ${title}, so nothing new arrives.`,
      failing: html`Fetching data from ${title} fails at the moment. We keep trying.`,
    };
    const link = html`<a href="${shopPath(visit.shop, `/sources#${name}`)}">See what to do</a>`;
    return html`<p class="alert">${reasons[kind]} ${link}</p>`;
  });
}
