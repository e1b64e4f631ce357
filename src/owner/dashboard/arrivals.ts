import { type Html, html } from '../../http/html.ts';
import type { FeedStatus } from '../../store/feeds/feeds.ts';
import { showTime } from '../ui/times.ts';
import type { Visit } from '../visit.ts';
import { feedLabel } from '../../platforms/registry.ts';

/** When any feed last received data. */
export function lastArrival(feeds: readonly FeedStatus[]): Date | undefined {
  const times = feeds.flatMap(({ arrivedAt }) => arrivedAt ?? []);
  return times.toSorted((one, other) => one.getTime() - other.getTime()).at(-1);
}

/** Shows data freshness by source. */
export function arrivals(
  visit: Visit,
  feeds: readonly FeedStatus[],
  { title = 'Data sources', link }: { readonly title?: string; readonly link?: Html } = {},
): Html {
  const time = (at: Date | null) => (at ? showTime(visit, at) : 'Not yet');
  return html`<section class="arrivals">
    <header>
      <h2>${title}</h2>
      ${link}
    </header>
    <table class="brief">
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
