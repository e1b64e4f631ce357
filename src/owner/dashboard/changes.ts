import {
  type Significance,
  type Share,
  significanceOfCounts,
  significanceOfShares,
} from '../significance.ts';
import { gapIn } from '../view/earlier.ts';
import type { Dashboard } from './dashboard.ts';
import type { Figure } from '../../metrics/figures.ts';

/** A figure compared with its value in the period compared with. */
export interface Change {
  readonly from: number;
  /** relative: a fraction of the earlier value; absolute: in the figure's own unit. */
  readonly kind: 'relative' | 'absolute';
  readonly by: number;
  /** Undefined if neither direction is better, or if it may be chance. */
  readonly judgement: 'better' | 'worse' | undefined;
  /** Undefined for amounts and for what holds at an instant: those changes are what they are. */
  readonly significance: Significance | undefined;
}

export type Compared = Pick<
  Dashboard,
  'view' | 'summary' | 'undefinedFigures' | 'bases' | 'earlier' | 'firstDay'
>;

/** How a figure has changed, or why it is not known or cannot be compared, in a few words for owners. */
export function changeOf(figure: Figure, compared: Compared): Change | string | undefined {
  const { field, format, comparison, betterWhen, undefinedBecause } = figure;
  const { summary, undefinedFigures, earlier, firstDay, view } = compared;
  const { before } = view;
  // What is about the future is known only from now on, so that it cannot be compared.
  if (undefinedFigures.has(field) || comparison === undefined) return undefinedBecause;
  const needed = comparison === 'window' ? before : { ...before, from: before.until };
  const gap = gapIn(needed, firstDay);
  if (gap) return gap;
  if (earlier.undefinedFigures.has(field)) return 'Nothing to compare with';

  const [from, to] = [earlier.summary[field], summary[field]];
  // Shares change by points; a change from zero or from a loss has no percentage.
  const isRelative = format !== 'share' && from > 0;
  return {
    from,
    kind: isRelative ? 'relative' : 'absolute',
    by: isRelative ? (to - from) / from : to - from,
    ...judge(to - from, betterWhen, chanceOf(figure, compared)),
  };
}

/** How a rate has changed, in points. */
export function changeOfShares(
  before: Share,
  now: Share,
  betterWhen: Figure['betterWhen'],
): Change {
  const by = now.share - before.share;
  const significance = significanceOfShares(before, now);
  return { from: before.share, kind: 'absolute', by, ...judge(by, betterWhen, significance) };
}

function judge(
  by: number,
  betterWhen: Figure['betterWhen'],
  significance: Significance | undefined,
): Pick<Change, 'judgement' | 'significance'> {
  const isJudged = betterWhen !== undefined && by !== 0 && significance?.doubt === undefined;
  const isBetter = by > 0 === (betterWhen === 'higher');
  return { judgement: isJudged ? (isBetter ? 'better' : 'worse') : undefined, significance };
}

function chanceOf(
  { field, format, comparison, basis }: Figure,
  { earlier, summary, bases: basesNow }: Compared,
): Significance | undefined {
  if (comparison === 'instant' || format === 'money') return undefined;
  const [from, to] = [earlier.summary[field], summary[field]];
  return basis === undefined
    ? significanceOfCounts(from, to)
    : significanceOfShares(
        { share: from, of: earlier.bases[basis] },
        { share: to, of: basesNow[basis] },
      );
}
