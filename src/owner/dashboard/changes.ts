import { type Dashboard, day } from './dashboard.ts';
import type { Figure } from './figures.ts';

/** A figure against what it was 30 days before. */
export interface Change {
  readonly from: number;
  /** relative: a fraction of what it was; absolute: in the figure's own unit. */
  readonly kind: 'relative' | 'absolute';
  readonly by: number;
  readonly judgement: 'better' | 'worse' | undefined;
}

/**
 * How a figure has changed; undefined where a comparison would mislead: it is not of the past, the shop
 * has no data from so long ago or has changed too much since to follow all of it back, or a rate had nothing to divide by.
 */
export function changeOf(
  figure: Figure,
  { summary, earlier, firstDay }: Pick<Dashboard, 'summary' | 'earlier' | 'firstDay'>,
): Change | undefined {
  if (figure.compares === undefined) return undefined;
  const days = figure.compares === 'window' ? 60 : 30;
  if (firstDay > Date.parse(summary.generatedAt) - days * day) return undefined;
  if (figure.followsChanges && !earlier.followsChanges) return undefined;
  if (figure.isVoid?.(summary) || figure.isVoid?.(earlier.summary)) return undefined;

  const [from, to] = [earlier.summary[figure.field], summary[figure.field]];
  // Shares differ by points; of nothing, or of a loss, there is no percentage.
  const isRelative = figure.shows !== 'share' && from > 0;
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
