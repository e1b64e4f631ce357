import {
  type Significance,
  type Share,
  significanceOfCounts,
  significanceOfShares,
} from '../../metrics/significance.ts';
import { type View, gapIn, dataBegins } from '../view/view.ts';
import type { Counted, Judged } from './dashboard.ts';
import type { Figure } from '../../metrics/figures.ts';
import { type Html, html } from '../../http/html.ts';
import type { FiguresVisit } from '../framework/page.ts';
import type { Interval } from '../../store/records/subscriptions.ts';
import {
  type ReaderOf,
  formatDay,
  formatFigure,
  formatMoney,
  formatRate,
  localeOf,
  numberFormat,
  uncapitalised,
} from '../ui/formats.ts';
import { everyInterval } from '../ui/labels.ts';

/** A figure compared with its value in the period compared with. */
export interface Change {
  readonly from: number;
  /** Of a share: how many cases it was of. */
  readonly fromOf?: number | undefined;
  /** relative: a fraction of the earlier value; absolute: in the figure's own unit. */
  readonly kind: 'relative' | 'absolute';
  readonly by: number;
  /** Undefined if neither direction is better, or if it may be chance. */
  readonly judgement: 'better' | 'worse' | undefined;
  /** Undefined for amounts: those changes are what they are. */
  readonly significance: Significance | undefined;
}

export interface Compared extends Counted, Pick<Judged, 'view' | 'firstDay'> {
  readonly earlier: Counted;
}

/** The value of a figure; a dash if it is not known. */
export function showValue(words: Pick<Words, 'value'>, figure: Figure, counted: Counted): string {
  const { field, format } = figure;
  if (counted.undefinedFigures.has(field)) return '–';
  const of = format === 'share' ? shareOf(figure, counted).of : undefined;
  return words.value(figure, counted.summary[field], of);
}

/** How a figure has changed, or why it is not known or cannot be compared, in a few words for owners. */
export function changeOf(figure: Figure, compared: Compared): Change | string | undefined {
  const { field, format, comparison, undefinedBecause } = figure;
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
    ...(format === 'share' && { fromOf: shareOf(figure, earlier).of }),
    kind: isRelative ? 'relative' : 'absolute',
    by: isRelative ? (to - from) / from : to - from,
    ...judgeFigure(figure, compared, to - from),
    ...(!canJudge(view) && { judgement: undefined }),
  };
}

/** A segment by what its subscriptions have become changed because of that: no change of it is better or worse. */
export const canJudge = ({ segment }: Pick<View, 'segment'>) =>
  segment?.status === undefined && segment?.age === undefined;

/** A figure as a share of its basis; 0 of 0 if there is nothing to divide by. */
export function shareOf({ field, format, basis }: Figure, { summary, bases }: Counted): Share {
  const of = basis === undefined ? 0 : bases[basis];
  return { share: format === 'share' ? summary[field] : summary[field] / Math.max(of, 1), of };
}

/** A number is better or worse only if its share of the basis is, too: twice as many payments fail among twice as many. */
function judgeFigure(figure: Figure, compared: Compared, by: number) {
  const { field, format, comparison, basis, betterWhen, arrivals } = figure;
  if (format === 'money') return judge(by, betterWhen, undefined);
  if (comparison === 'instant') {
    // It changed by what came and left since the period compared with: of a year, as much as in the period in proportion.
    const { period, before } = compared.view;
    const since = (period.until - before.until) / Math.max(period.until - period.from, 1);
    // All of it came if that is not counted.
    const counted = arrivals ? compared.summary[arrivals] * since : compared.summary[field];
    const came = Math.max(counted, by);
    return judge(by, betterWhen, significanceOfCounts(came - by, came));
  }
  const [before, now] = [shareOf(figure, compared.earlier), shareOf(figure, compared)];
  const ofRate = judge(now.share - before.share, betterWhen, significanceOfShares(before, now));
  if (format === 'share') return ofRate;
  const { earlier, summary } = compared;
  const change = judge(
    by,
    betterWhen,
    significanceOfCounts(earlier.summary[field], summary[field]),
  );
  const isSeen = basis === undefined || ofRate.judgement === change.judgement;
  return isSeen ? change : { ...change, judgement: undefined };
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

export type Words = ReturnType<typeof wordsOf>;

/** How the values and changes of figures are written. */
export function wordsOf(visit: ReaderOf) {
  const locale = localeOf(visit);
  /** @param of how many cases a share is of: of few, it is written as how many of how many */
  const value = (figure: Pick<Figure, 'format'>, amount: number, of?: number) =>
    of === undefined
      ? formatFigure(visit, figure, amount)
      : formatRate(visit, { share: amount, of });
  /** One decimal at most; of a large percentage, none. */
  const size = (amount: number, unit: number, options: Intl.NumberFormatOptions) => {
    const { format } = numberFormat(locale, options);
    return amount < unit / 2 ? `<${format(unit)}` : format(amount);
  };
  /** The size of a change; an arrow or a verb says its direction. */
  const change = (figure: Pick<Figure, 'format'>, { kind, by }: Pick<Change, 'kind' | 'by'>) => {
    const amount = Math.abs(by);
    if (kind === 'relative') {
      const maximumFractionDigits = amount < 0.1 ? 1 : 0;
      return size(amount, 0.001, { style: 'percent', maximumFractionDigits });
    }
    if (figure.format !== 'share') return value(figure, amount);
    const points = size(amount * 100, 0.1, { maximumFractionDigits: 1 });
    return points === '1' ? '1 point' : `${points} points`;
  };
  return {
    value,
    /** An amount in whole units, unless it is small. */
    about: (amount: number) =>
      amount < 100
        ? formatMoney(visit, amount)
        : numberFormat(locale, {
            style: 'currency',
            currency: visit.shop.currency,
            maximumFractionDigits: 0,
          }).format(amount),
    every: (interval: Interval) => everyInterval(visit, interval),
    day: (at: number) => formatDay(visit, at),
    change,
    /** Why a period is not compared. @param firstDay the time of the shop's earliest data, epoch milliseconds */
    beginning: (firstDay: number) => dataBegins(visit, firstDay),
  };
}

/** How a rate has changed, in points, and what it was before, within a sentence. */
export function showShareChange(
  visit: FiguresVisit,
  before: Share,
  now: Share,
  betterWhen: Figure['betterWhen'],
): Html {
  const by = now.share - before.share;
  const judged = judge(
    by,
    canJudge(visit.view) ? betterWhen : undefined,
    significanceOfShares(before, now),
  );
  const change = {
    from: before.share,
    fromOf: before.of,
    kind: 'absolute',
    by,
    ...judged,
  } as const;
  return showChangeFrom(wordsOf(visit), { format: 'share' }, change, uncapitalised);
}

/** A change, and what the value was before. @param write the words for why there is none */
export function showChangeFrom(
  words: Words,
  figure: Pick<Figure, 'format'>,
  change: Change | string | undefined,
  write = (text: string) => text,
): Html {
  const shown = showChange(words, figure, change, write);
  if (typeof change !== 'object') return html`${shown}`;
  const before = html`<bdi>${words.value(figure, change.from, change.fromOf)}</bdi>`;
  const isDoubted = change.significance?.doubt !== undefined && change.by !== 0;
  return html`${shown}
    <span aria-hidden="true">${isDoubted ? html`(${before})` : html`from ${before}`}</span>`;
}

/** A change as an arrow and its size, or why there is none; the value before on hover and for screen readers. */
export function showChange(
  words: Words,
  figure: Pick<Figure, 'format'>,
  change: Change | string | undefined,
  write = (text: string) => text,
): Html | undefined {
  if (change === undefined) return undefined;
  if (typeof change === 'string') return html`<span class="why">${write(change)}</span>`;
  const { by, from, fromOf, judgement, significance } = change;
  const before = `${words.value(figure, from, fromOf)} before`;
  const size = `${by > 0 ? '↑' : '↓'} ${words.change(figure, change)}`;
  if (by === 0) return html`<span class="why" title="${before}">${write('Unchanged')}</span>`;
  if (significance?.doubt !== undefined) {
    return html`<span class="why" title="${size}, ${before}"
      >${write(significance.doubt)}<span class="visually-hidden">, ${before}</span></span
    >`;
  }
  return html`<span class="change ${judgement ?? 'neutral'}" title="${before}"
    >${by > 0 ? '↑' : '↓'} <bdi>${words.change(figure, change)}</bdi>
    <span class="visually-hidden">${judgement && `${judgement}, `}${before}</span></span
  >`;
}
