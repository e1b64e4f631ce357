import { dateFormat } from '../ui/formats.ts';
import { localeOf } from '../ui/locale.ts';
import type { Visit } from '../visit.ts';

/** Names months such as 2026-03 in the reader's locale. */
export function monthFormat(visit: Visit, month: 'short' | 'long'): (month: string) => string {
  const format = dateFormat(localeOf(visit), { month, year: 'numeric' });
  return (text) => format.format(Date.parse(`${text}-01T00:00:00Z`));
}
