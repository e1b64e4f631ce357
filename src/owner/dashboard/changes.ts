import {
  type Significance,
  type Share,
  significanceOfCounts,
  significanceOfShares,
} from '../../metrics/significance.ts';
import { gapIn, dataBegins } from '../view/view.ts';
import type { Dashboard } from './dashboard.ts';
import type { Figure } from '../../metrics/figures.ts';
import { type Html, html } from '../../http/html.ts';
import type { ShopVisit } from '../pages.ts';
import { formatFigure, formatRate, numberFormat, localeOf } from '../ui/formats.ts';

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

/** How the values and changes of figures are written. */
export interface Words {
  value(figure: Pick<Figure, 'format'>, value: number): string;
  /** The size of a change; an arrow or a verb says its direction. */
  change(figure: Pick<Figure, 'format'>, change: Pick<Change, 'kind' | 'by'>): string;
  /** Why a period is not compared. @param firstDay the time of the shop's earliest data, epoch milliseconds */
  beginning(firstDay: number): string;
}

export function wordsOf(visit: ShopVisit): Words {
  const locale = localeOf(visit);
  const value: Words['value'] = (figure, amount) => formatFigure(visit, figure, amount);
  const change: Words['change'] = (figure, { kind, by }) => {
    const size = Math.abs(by);
    if (kind === 'relative') {
      return numberFormat(locale, {
        style: 'percent',
        // One decimal place, or more where a small change would be rounded to 0.
        maximumFractionDigits: 1,
        maximumSignificantDigits: 2,
        roundingPriority: 'morePrecision',
      }).format(size);
    }
    if (figure.format !== 'share') return value(figure, size);
    const points = numberFormat(locale, {
      maximumFractionDigits: 1,
      maximumSignificantDigits: 1,
      roundingPriority: 'morePrecision',
    }).format(size * 100);
    return points === '1' ? '1 point' : `${points} points`;
  };
  return { value, change, beginning: (firstDay) => dataBegins(visit, firstDay) };
}

/** How a rate has changed, in points, and what it was before. */
export function showShareChange(
  visit: ShopVisit,
  before: Share,
  now: Share,
  betterWhen: Figure['betterWhen'],
): Html {
  const by = now.share - before.share;
  const judged = judge(by, betterWhen, significanceOfShares(before, now));
  const change = { from: before.share, kind: 'absolute', by, ...judged } as const;
  const words = { ...wordsOf(visit), value: () => formatRate(visit, before) };
  return showChangeFrom(words, { format: 'share' }, change);
}

/** A change, and what the value was before. */
export function showChangeFrom(
  words: Words,
  figure: Pick<Figure, 'format'>,
  change: Change | string | undefined,
): Html {
  const shown = showChange(words, figure, change);
  if (typeof change !== 'object') return html`${shown}`;
  const before = html`<bdi>${words.value(figure, change.from)}</bdi>`;
  const isDoubted = change.significance?.doubt !== undefined && change.by !== 0;
  return html`${shown}
    <span aria-hidden="true">${isDoubted ? html`(${before})` : html`from ${before}`}</span>`;
}

/** A change as an arrow and its size, or why there is none; the value before on hover and for screen readers. */
export function showChange(
  words: Words,
  figure: Pick<Figure, 'format'>,
  change: Change | string | undefined,
): Html | undefined {
  if (change === undefined) return undefined;
  if (typeof change === 'string') return html`<span class="why">${change}</span>`;
  const { by, from, judgement, significance } = change;
  const before = `${words.value(figure, from)} before`;
  const size = `${by > 0 ? '↑' : '↓'} ${words.change(figure, change)}`;
  if (by === 0) return html`<span class="why" title="${before}">Unchanged</span>`;
  if (significance?.doubt !== undefined) {
    return html`<span class="why" title="${size}, ${before}"
      >${significance.doubt}<span class="visually-hidden">, ${before}</span></span
    >`;
  }
  return html`<span class="change ${judgement ?? 'neutral'}" title="${before}"
    >${by > 0 ? '↑' : '↓'} <bdi>${words.change(figure, change)}</bdi>
    <span class="visually-hidden">${judgement && `${judgement}, `}${before}</span></span
  >`;
}
