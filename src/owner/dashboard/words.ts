import { type Html, html } from '../../http/html.ts';
import type { ShopVisit } from '../pages.ts';
import { numberFormat } from '../ui/formats.ts';
import { formatCount, formatMoney, formatShare, localeOf } from '../ui/locale.ts';
import { dataBegins } from '../view/earlier.ts';
import type { Change } from './changes.ts';
import type { Figure } from '../../metrics/figures.ts';

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
  const value: Words['value'] = ({ format }, amount) => {
    if (format === 'count') return formatCount(visit, amount);
    return format === 'money' ? formatMoney(visit, visit.shop, amount) : formatShare(visit, amount);
  };
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
    const points = numberFormat(locale, { maximumFractionDigits: 2 }).format(size * 100);
    return points === '1' ? '1 point' : `${points} points`;
  };
  return { value, change, beginning: (firstDay) => dataBegins(visit, firstDay) };
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
