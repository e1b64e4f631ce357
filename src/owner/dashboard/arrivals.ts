import { type Html, html } from '../../http/html.ts';
import type { FeedStatus } from '../../store/feeds/feeds.ts';
import { showTime } from '../ui/times.ts';
import type { Visit } from '../visit.ts';
import { feedLabel } from '../../platforms/feeds.ts';

/** When anything came last, on whichever way. */
export function lastArrival(feeds: readonly FeedStatus[]): Date | undefined {
  const times = feeds.flatMap(({ arrivedAt }) => arrivedAt ?? []);
  return times.toSorted((one, other) => one.getTime() - other.getTime()).at(-1);
}

/** Where the shop's data comes from, and how fresh each part of it is. */
export function arrivals(visit: Visit, feeds: readonly FeedStatus[]): Html {
  const time = (at: Date | null) => (at ? showTime(visit, at) : 'Not yet');
  return html`<section class="arrivals">
    <h2>Where the data comes from</h2>
    <table>
      <thead>
        <tr>
          <th scope="col">From</th>
          <th scope="col">Last came</th>
          <th scope="col">Newest change in it</th>
          <th scope="col">Last complete</th>
        </tr>
      </thead>
      <tbody>
        ${feeds.map(
          ({ feed, arrivedAt, newestAt, completedAt }) =>
            html`<tr>
              <th scope="row">${feedLabel(feed)}</th>
              <td data-label="Last came">${time(arrivedAt)}</td>
              <td data-label="Newest change in it">${time(newestAt)}</td>
              <td data-label="Last complete">${time(completedAt)}</td>
            </tr>`,
        )}
      </tbody>
    </table>
  </section>`;
}
