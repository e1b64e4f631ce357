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

/**
 * How a figure has changed. Undefined where a comparison would mislead: the figure is about the future,
 * the shop has no data from that time or too many changes since to follow them back, or a rate had nothing
 * to divide by.
 */
export function changeOf(
  figure: Figure,
  { summary, earlier, firstDay }: Pick<Dashboard, 'summary' | 'earlier' | 'firstDay'>,
): Change | undefined {
  if (figure.comparison === undefined) return undefined;
  const days = figure.comparison === 'window' ? 60 : 30;
  if (firstDay > Date.parse(summary.generatedAt) - days * day) return undefined;
  if (figure.followsChanges && !earlier.followsChanges) return undefined;
  if (figure.hasNoBasis?.(summary) || figure.hasNoBasis?.(earlier.summary)) return undefined;

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
