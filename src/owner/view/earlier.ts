import type { Period } from '../../metrics/bounds.ts';
import type { ShopVisit } from '../pages.ts';
import { dateFormat } from '../ui/formats.ts';
import { localeOf } from '../ui/locale.ts';

/** Why nothing is compared with an earlier period, in a few words for owners. */
export type Gap = 'No earlier data' | 'Earlier data incomplete';

/** @param firstDay the time of the shop's earliest data, epoch milliseconds */
export function gapIn({ from, until }: Period, firstDay: number): Gap | undefined {
  if (firstDay <= from) return undefined;
  return firstDay < until ? 'Earlier data incomplete' : 'No earlier data';
}

/** The same in a sentence, or the rest of one. */
export function dataBegins(visit: ShopVisit, firstDay: number): string {
  const day = dateFormat(localeOf(visit), { dateStyle: 'medium' }).format(firstDay);
  return `data begins ${day}, too late to compare`;
}
