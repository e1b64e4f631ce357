import { type Html, html } from '../../http/html.ts';
import type { HourlyRequests } from '../../store/keys/key-requests.ts';
import { formatCount } from '../ui/locale.ts';
import type { Visit } from '../visit.ts';

const hourMilliseconds = 3_600_000;
export const shownHours = 24;

/** The first hour that is shown, in whole hours since 1970 (UTC); the last is the one that runs. */
export function firstHour(now: number): number {
  return Math.floor(now / hourMilliseconds) - shownHours + 1;
}

/** In units of the picture, which are pixels at its usual size. */
const picture = { height: 32, step: 6, bar: 4 } as const;

/** A key's requests in the last 24 hours: a bar an hour, and the same as text. */
export function showUse(visit: Visit, requests: HourlyRequests, now: number): Html {
  const first = firstHour(now);
  const hours = Array.from({ length: shownHours }, (_, place) => ({
    place,
    hour: first + place,
    count: requests.get(first + place) ?? 0,
  }));
  const total = hours.reduce((sum, { count }) => sum + count, 0);
  const sum = `${formatCount(visit, total)} in ${shownHours} h`;
  if (total === 0) return html`<div class="use">${sum}</div>`;

  const used = hours
    .filter(({ count }) => count > 0)
    .map((each) => ({
      ...each,
      time: clockTime(each.hour),
      written: formatCount(visit, each.count),
    }));
  const busiest = used.reduce((most, each) => (each.count > most.count ? each : most));
  const { height, step, bar } = picture;
  const bars = used.map(({ place, count, time, written }) => {
    // An hour with any request is seen.
    const tall = Math.max(2, Math.round((count / busiest.count) * height));
    return html`<rect x="${place * step}" y="${height - tall}" width="${bar}" height="${tall}"
      ><title>${time}: ${written}</title></rect
    >`;
  });
  const label = `Requests: ${sum}, by hour in UTC. Busiest hour: ${busiest.time}, with ${busiest.written}`;
  return html`<div class="use">
    <svg
      role="img"
      aria-label="${label}"
      viewBox="0 0 ${shownHours * step - (step - bar)} ${height + 1}"
      width="${shownHours * step - (step - bar)}"
      height="${height + 1}"
    >
      ${bars}
      <path d="M0 ${height + 0.5}h${shownHours * step}" />
    </svg>
    <details>
      <summary>${sum}</summary>
      <ul>
        ${used.map(({ time, written }) => html`<li>${time}: ${written}</li>`)}
      </ul>
    </details>
  </div>`;
}

/** An hour of the day, as in `14:00`. */
function clockTime(hour: number): string {
  return new Date(hour * hourMilliseconds).toISOString().slice(11, 16);
}
