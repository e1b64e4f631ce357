import { type Html, html } from '../../http/html.ts';
import { seenFrom } from '../../metrics/bounds.ts';
import type { Counted, CountedFigure } from '../../metrics/segments/lists.ts';
import { figuresOf } from '../framework/list.ts';
import { formatCount } from '../ui/locale.ts';
import { showTime } from '../ui/times.ts';
import { partOf } from '../view/days.ts';
import { showPeriod } from '../view/picker.ts';
import type { SubscriptionsVisit } from './filters.ts';

/** As the overview calls them. */
export const figureLabels: Readonly<Record<CountedFigure, readonly [label: string]>> = {
  new: ['New subscribers'],
  active: ['Active subscribers'],
  paused: ['Paused subscribers'],
  cancelled: ['Cancellations'],
  kept: ['Kept by the cancel flow'],
};

/** What happened on the day that is shown instead of the next billing date. */
export const happenings: Readonly<Partial<Record<CountedFigure, string>>> = {
  cancelled: 'Cancelled',
  kept: 'Saved',
};

/** What a list is of: the status at the end of the period; of what was kept, now. */
export function countedIn(visit: SubscriptionsVisit, figure: CountedFigure): Counted {
  const { view, filters } = visit;
  const at = figure === 'kept' ? view.now : seenFrom(view.period, view.now);
  return { figure, ...partOf(view.period, filters), at };
}

/** How many a figure counts: subscriptions or customers. */
export interface FigureCount {
  readonly customers?: number;
  readonly subscriptions?: number;
}

/** The same as the figure, or as its bar. */
export function countFigure(
  visit: SubscriptionsVisit,
  figure: CountedFigure,
): Promise<FigureCount> {
  const { period, now } = visit.view;
  const { first, last } = visit.filters;
  return figuresOf(visit, async (figures) => {
    if (figure === 'active' || figure === 'paused') {
      const row = await figures.summary(period, now);
      return figure === 'paused'
        ? { customers: row.pausedSubscribers }
        : { customers: row.activeSubscribers, subscriptions: row.activeSubscriptions };
    }
    if (figure === 'kept') {
      const { subscriptions } = await figures.kept({ ...partOf(period, visit.filters), now });
      return { subscriptions };
    }
    const history = await figures.history(period);
    const field = figure === 'new' ? 'newSubscribers' : 'cancelled';
    const subscriptions = history
      .filter(({ day }) => day >= (first ?? day) && day <= (last ?? day))
      .reduce((sum, each) => sum + each[field], 0);
    return { subscriptions };
  });
}

/** How many a list has, and of what. */
export function figureHead(
  visit: SubscriptionsVisit,
  figure: CountedFigure,
  { customers = 0, subscriptions = 0 }: FigureCount = {},
): Html {
  const { view, filters } = visit;
  const many = (count: number, noun: string) =>
    `${formatCount(visit, count)} ${noun}${count === 1 ? '' : 's'}`;
  const during = showPeriod(visit, partOf(view.period, filters));
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
