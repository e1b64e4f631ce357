import { type Html, html } from '../http/html.ts';
import { localeOf } from './locale.ts';
import type { Visit } from './visit.ts';

/** A time in UTC as the reader writes them; the exact one on hover. */
export function showTime(visit: Visit, at: Date): Html {
  const format = new Intl.DateTimeFormat(localeOf(visit), {
    dateStyle: 'medium',
    timeStyle: 'short',
    timeZone: 'UTC',
  });
  const exact = at.toISOString();
  return html`<time datetime="${exact}" title="${exact}">${format.format(at)} UTC</time>`;
}

/** A day in UTC, short; the exact time on hover. */
export function showDay(visit: Visit, at: Date): Html {
  const format = new Intl.DateTimeFormat(localeOf(visit), { dateStyle: 'medium', timeZone: 'UTC' });
  const exact = at.toISOString();
  return html`<time datetime="${exact}" title="${exact}">${format.format(at)}</time>`;
}
