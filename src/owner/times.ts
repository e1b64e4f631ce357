import { type Html, html } from '../http/html.ts';
import type { Visit } from './visit.ts';

/** The reader's first language, as their browser says; English where it says nothing that is known. */
function localeOf(acceptLanguage: string | undefined): string {
  const first = acceptLanguage?.split(',', 1)[0]?.split(';', 1)[0]?.trim() ?? '';
  try {
    return Intl.DateTimeFormat.supportedLocalesOf(first)[0] ?? 'en';
  } catch {
    return 'en';
  }
}

/** A time in UTC as the reader writes them; the exact one on hover. */
export function showTime({ request }: Visit, at: Date): Html {
  const format = new Intl.DateTimeFormat(localeOf(request.headers['accept-language']), {
    dateStyle: 'medium',
    timeStyle: 'short',
    timeZone: 'UTC',
  });
  const exact = at.toISOString();
  return html`<time datetime="${exact}" title="${exact}">${format.format(at)} UTC</time>`;
}
