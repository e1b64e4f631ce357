import { type Dashboard, day } from './dashboard.ts';
import type { Figure } from './figures.ts';

/** A figure compared with its value 30 days before. */
export interface Change {
  readonly from: number;
  /** relative: a fraction of the earlier value; absolute: in the figure's own unit. */
  readonly kind: 'relative' | 'absolute';
  readonly by: number;
  readonly judgement: 'better' | 'worse' | undefined;
}

export type Compared = Pick<Dashboard, 'summary' | 'undefinedFigures' | 'earlier' | 'firstDay'>;

/**
 * How a figure has changed, or why a comparison would mislead, in a few words for owners. Undefined for a
 * figure that is never compared, such as one about the future.
 */
export function changeOf(
  figure: Figure,
  { summary, undefinedFigures, earlier, firstDay }: Compared,
): Change | string | undefined {
  if (undefinedFigures.has(figure.field)) return figure.undefinedBecause;
  if (figure.comparison === undefined) return undefined;
  const days = figure.comparison === 'window' ? 60 : 30;
  if (firstDay > Date.parse(summary.generatedAt) - days * day) return 'No earlier data';
  if (earlier.undefinedFigures.has(figure.field)) return 'Nothing to compare with';

  const [from, to] = [earlier.summary[figure.field], summary[figure.field]];
  // Shares change by points; a change from zero or from a loss has no percentage.
  const isRelative = figure.format !== 'share' && from > 0;
  const isHigher = to > from;
  return {
    from,
    kind: isRelative ? 'relative' : 'absolute',
    by: isRelative ? (to - from) / from : to - from,
    judgement:
      figure.betterWhen === undefined || to === from
        ? undefined
        : isHigher === (figure.betterWhen === 'higher')
          ? 'better'
          : 'worse',
  };
}
