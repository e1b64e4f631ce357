import { type Html, html } from '../../http/html.ts';
import type { HourlyRequests } from '../../store/keys/requests.ts';
import { formatCount } from '../ui/locale.ts';
import type { Visit } from '../visit.ts';

const hourMilliseconds = 3_600_000;
export const shownHours = 24;

/** The first hour shown, in hours since 1970 (UTC); the last is the current hour. */
export function firstHour(now: number): number {
  return Math.floor(now / hourMilliseconds) - shownHours + 1;
}

/** SVG units. */
const chartSize = { height: 32, step: 6, bar: 4 } as const;

/** A key's requests in the last 24 hours, as bars per hour and as text. */
export function usageChart(visit: Visit, requests: HourlyRequests, now: number): Html {
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
      formatted: formatCount(visit, each.count),
    }));
  const busiest = used.reduce((max, each) => (each.count > max.count ? each : max));
  const { height, step, bar } = chartSize;
  const bars = used.map(({ place, count, time, formatted }) => {
    // An hour with any requests has a visible bar.
    const barHeight = Math.max(2, Math.round((count / busiest.count) * height));
    return html`<rect
      x="${place * step}"
      y="${height - barHeight}"
      width="${bar}"
      height="${barHeight}"
      ><title>${time}: ${formatted}</title></rect
    >`;
  });
  const label = `Requests: ${sum}, by hour in UTC. Busiest hour: ${busiest.time}, with ${busiest.formatted}`;
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
        ${used.map(({ time, formatted }) => html`<li>${time}: ${formatted}</li>`)}
      </ul>
    </details>
  </div>`;
}

/** An hour of the day, such as `14:00`. */
function clockTime(hour: number): string {
  return new Date(hour * hourMilliseconds).toISOString().slice(11, 16);
}
