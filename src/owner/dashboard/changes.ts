import type { Dashboard } from './dashboard.ts';
import type { Figure } from './figures.ts';

/** A figure compared with its value in the period compared with. */
export interface Change {
  readonly from: number;
  /** relative: a fraction of the earlier value; absolute: in the figure's own unit. */
  readonly kind: 'relative' | 'absolute';
  readonly by: number;
  readonly judgement: 'better' | 'worse' | undefined;
}

export type Compared = Pick<
  Dashboard,
  'view' | 'summary' | 'undefinedFigures' | 'bases' | 'earlier' | 'firstDay'
>;

/**
 * How a figure has changed, or why it is not known or a comparison would mislead, in a few words for owners.
 * Undefined for a figure that is never compared, such as one about the future.
 */
export function changeOf(
  { field, format, comparison, betterWhen, undefinedBecause }: Figure,
  { summary, undefinedFigures, earlier, firstDay, view: { before } }: Compared,
): Change | string | undefined {
  if (undefinedFigures.has(field)) return undefinedBecause;
  if (comparison === undefined) return undefined;
  if (firstDay > (comparison === 'window' ? before.from : before.until)) return 'No earlier data';
  if (earlier.undefinedFigures.has(field)) return 'Nothing to compare with';

  const [from, to] = [earlier.summary[field], summary[field]];
  // Shares change by points; a change from zero or from a loss has no percentage.
  const isRelative = format !== 'share' && from > 0;
  const isHigher = to > from;
  return {
    from,
    kind: isRelative ? 'relative' : 'absolute',
    by: isRelative ? (to - from) / from : to - from,
    judgement:
      betterWhen === undefined || to === from
        ? undefined
        : isHigher === (betterWhen === 'higher')
          ? 'better'
          : 'worse',
  };
}
