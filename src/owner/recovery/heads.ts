import { type Html, html } from '../../http/html.ts';
import { type Range, retriesOf } from '../../metrics/recovery/cases.ts';
import { type ClosedCases, type OpenCases, totalOf } from '../../metrics/recovery/figures.ts';
import type { ShopVisit } from '../pages.ts';
import type { SegmentChoices } from '../segments/choices.ts';
import { segmentPicker } from '../segments/picker.ts';
import { shopPath } from '../ui/layout.ts';
import { formatCount } from '../ui/locale.ts';
import { showTime } from '../ui/times.ts';
import { periodPicker, showPeriod } from '../view/picker.ts';
import type { View } from '../view/view.ts';
import { closedFilterOf, codeOf } from './filters.ts';
import { type Outstanding, openPath, todayOf } from './outstanding.ts';

function payments(visit: ShopVisit, count: number): Html {
  return html`<strong
    >${formatCount(visit, count)} ${count === 1 ? 'payment' : 'payments'}</strong
  >`;
}

/** How many payments are outstanding, and when; @param cases of any failure code */
export function openHead(
  visit: ShopVisit,
  { view }: Outstanding,
  choices: SegmentChoices,
  cases: readonly OpenCases[],
): Html {
  const code = codeOf(visit);
  const listed = cases.filter(({ failureCode }) => code === undefined || failureCode === code);
  return html`${segmentPicker(visit, view.segment, choices, shopPath(visit.shop, '/recovery/open'))}
    <p>
      ${payments(visit, totalOf(listed).count)} outstanding ${endOf(visit, view)}.
      ${sinceThen(visit, view)}
    </p>`;
}

/** When a view's period ends, in words. */
export function endOf(visit: ShopVisit, { period: { until }, now }: View): Html {
  return until === now ? html`now` : html`just before ${showTime(visit, new Date(until))}`;
}

/** What of a list of payments outstanding in the past is not of then. */
export function sinceThen(visit: ShopVisit, view: View): Html | undefined {
  if (view.period.until === view.now) return undefined;
  return html`Attempts, failure codes and dates are those of today.
    <a href="${openPath(visit, todayOf(view))}">See those outstanding now</a>`;
}

const isIn = (count: number, [min, max]: Range) => count >= min && count <= max;

/** How many payments were recovered or lost; @param cases of the same days, by any filter */
export function closedHead(
  visit: ShopVisit,
  view: View,
  choices: SegmentChoices,
  cases: readonly ClosedCases[],
): Html {
  const path = shopPath(visit.shop, '/recovery/closed');
  const filter = closedFilterOf(visit, view);
  const { result, code, attempts, retries } = filter;
  const listed = cases.filter(
    (each) =>
      (result === undefined || each.result === result) &&
      (code === undefined || each.failureCode === code) &&
      isIn(each.attempts, attempts) &&
      isIn(retriesOf(each), retries),
  );
  return html`${periodPicker(visit, view, path)}
    ${segmentPicker(visit, view.segment, choices, path)}
    <p>
      ${payments(visit, totalOf(listed).count)} ${result ?? 'recovered or lost'}
      ${showPeriod(visit, filter)} (UTC).
    </p>`;
}
