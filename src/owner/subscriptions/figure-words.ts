import { type Html, html } from '../../http/html.ts';
import type { CountedFigure } from '../../metrics/segments/counted.ts';
import type { ShopVisit } from '../pages.ts';
import { formatCount } from '../ui/locale.ts';
import { showTime } from '../ui/times.ts';
import { partOf } from '../view/days.ts';
import { showPeriod } from '../view/picker.ts';
import type { FigureCount, OfFigure } from './of-figure.ts';

/** As the overview calls them. */
export const figureLabels: Readonly<Record<CountedFigure, readonly [label: string]>> = {
  new: ['New subscribers'],
  active: ['Active subscribers'],
  paused: ['Paused subscribers'],
  cancelled: ['Cancellations'],
  kept: ['Kept by the cancel flow'],
};

/** How many a list has, and of what. */
export function figureHead(
  visit: ShopVisit,
  { figure, view, days }: OfFigure,
  { customers = 0, subscriptions = 0 }: FigureCount,
): Html {
  const many = (count: number, noun: string) =>
    `${formatCount(visit, count)} ${noun}${count === 1 ? '' : 's'}`;
  const during = showPeriod(visit, partOf(view.period, days));
  const isNow = view.period.until === view.now;
  const then = isNow ? 'now' : html`just before ${showTime(visit, new Date(view.period.until))}`;
  const words: Readonly<Record<CountedFigure, () => Html>> = {
    new: () =>
      html`<strong>${many(subscriptions, 'subscription')}</strong> that began ${during}, each the
        first of its customer.`,
    active: () =>
      html`<strong>${many(subscriptions, 'subscription')} of ${many(customers, 'customer')}</strong
        >, active ${then}.`,
    paused: () =>
      html`Paused subscriptions of <strong>${many(customers, 'customer')}</strong> without an active
        one ${then}.`,
    cancelled: () =>
      html`<strong>${many(subscriptions, 'subscription')}</strong> cancelled ${during} and still
        cancelled ${then}.`,
    kept: () =>
      html`<strong>${many(subscriptions, 'subscription')}</strong>, active now, whose last saved
        session began ${during}.`,
  };
  const areOfThen = !isNow && figure !== 'kept';
  return html`<p>${words[figure]()}</p>
    <p class="quiet">
      ${areOfThen ? 'The status is the one of that time; prices and dates are those of today. ' : undefined}Times
      are in UTC.
    </p>`;
}
