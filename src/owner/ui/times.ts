import { type Html, html } from '../../http/html.ts';
import { dateFormat } from './formats.ts';
import { localeOf } from './locale.ts';
import type { Visit } from '../visit.ts';

/** A time in UTC in the reader's locale; the exact time on hover. */
export function showTime(visit: Visit, at: Date): Html {
  return showTimeAs(visit, at, 'short');
}

/** The same, with seconds. */
export function showSecond(visit: Visit, at: Date): Html {
  return showTimeAs(visit, at, 'medium');
}

function showTimeAs(visit: Visit, at: Date, timeStyle: 'short' | 'medium'): Html {
  const format = dateFormat(localeOf(visit), { dateStyle: 'medium', timeStyle });
  const exact = at.toISOString();
  return html`<time datetime="${exact}" title="${exact}">${format.format(at)} UTC</time>`;
}

/** A date in UTC; the exact time on hover. */
export function showDay(visit: Visit, at: Date): Html {
  const format = dateFormat(localeOf(visit), { dateStyle: 'medium' });
  const exact = at.toISOString();
  return html`<time datetime="${exact}" title="${exact}">${format.format(at)}</time>`;
}

const units = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const;
const ago = new Intl.RelativeTimeFormat('en');

/** How long ago a time was, in the largest whole unit; the exact time on hover. */
export function showAgo(at: Date, now: number): Html {
  const elapsed = now - at.getTime();
  const [unit, milliseconds] = units.find((each) => elapsed >= each[1]) ?? [];
  const text =
    unit === undefined
      ? 'less than a minute ago'
      : ago.format(-Math.floor(elapsed / milliseconds), unit);
  const exact = at.toISOString();
  return html`<time datetime="${exact}" title="${exact}">${text}</time>`;
}
