import { type Period, day } from '../../metrics/bounds.ts';
import { type View, parseDay, viewPath } from './view.ts';

/** Some UTC days of a view's period, such as those of a bar, as an address names them; both are included. */
export interface Days {
  readonly first?: string | undefined;
  readonly last?: string | undefined;
}

/**
 * The UTC days of a period, of which the first and the last may be in part.
 * @param valuesOf what is known of a day, by its start, epoch milliseconds
 */
export function daysOf<Values>(
  { from, until }: Period,
  valuesOf: (at: number) => Values,
): (Values & { readonly day: string })[] {
  const first = Math.floor(from / day);
  return Array.from({ length: Math.max(Math.ceil(until / day) - first, 1) }, (_, index) => {
    const at = (first + index) * day;
    return { day: new Date(at).toISOString().slice(0, 10), ...valuesOf(at) };
  });
}

/** The part of a period that is in some days. */
export function partOf({ from, until }: Period, { first, last }: Days): Period {
  const [start, end] = [first, last].map((text) =>
    text === undefined ? undefined : parseDay(text),
  );
  const since = Math.max(from, start ?? from);
  return { from: since, until: Math.max(since, Math.min(until, (end ?? until) + day)) };
}

/** What happened on some days of a view, as seen from the end of its period: the page of a bar's rows. */
export function daysPath(
  path: `/app${string}`,
  view: View,
  { first, last }: { readonly first: string; readonly last: string },
  more: Readonly<Record<string, string>> = {},
): `/app${string}` {
  return viewPath(path, view, { ...more, first, last });
}
