import { type Html, html } from '../../http/html.ts';
import { amountOf, totalOf } from '../../metrics/recovery/figures.ts';
import { chart } from '../charts/chart.ts';
import type { ShopVisit } from '../pages.ts';
import type { SegmentChoices } from '../segments/choices.ts';
import { segmentPicker } from '../segments/picker.ts';
import { shopPath, sourcesLink } from '../ui/layout.ts';
import { formatCount, formatMoney } from '../ui/locale.ts';
import { periodPicker, showPeriod } from '../view/picker.ts';
import { type View, viewPath } from '../view/view.ts';
import { breakdownTable, breakdownsOf, showRate } from './breakdown.ts';
import { recoveryCharts } from './charts.ts';
import { type Recovery, ended, rateOf } from './figures.ts';
import { endOf, openPath, sinceThen } from './open.ts';

/** @param open the list of outstanding payments, or its first rows */
export function recoveryContent(
  visit: ShopVisit,
  view: View,
  choices: SegmentChoices,
  recovery: Recovery,
  open: Html,
): Html {
  const { shop } = visit;
  const charts = recoveryCharts(visit, view, recovery).map((each) =>
    chart(each, viewPath(shopPath(shop, '/recovery/charts.csv'), view, { chart: each.id })),
  );
  const tables = breakdownsOf(recovery.closed).map((each) => breakdownTable(visit, view, each));
  const since = sinceThen(visit, view);
  return html`${answer(visit, view, recovery)}
    ${periodPicker(visit, view, shopPath(shop, '/recovery'))}
    ${segmentPicker(visit, view.segment, choices, shopPath(shop, '/recovery'))}
    <section class="charts">
      <h2>Recovered and lost</h2>
      <div class="grid">${charts} ${tables}</div>
    </section>
    <section>
      <h2>Outstanding ${endOf(visit, view)}</h2>
      ${since && html`<p class="quiet">${since}</p>`} ${open}
    </section>`;
}

/** What is owed at the end of the period, and how much of what was owed came back, in words. */
function answer(visit: ShopVisit, view: View, recovery: Recovery): Html {
  const { shop } = visit;
  const owed = totalOf(recovery.outstanding);
  const money = formatMoney(visit, shop, amountOf(owed, shop.currency));
  const [recovered, lost] = [ended(recovery.closed, 'recovered'), ended(recovery.closed, 'lost')];
  const rate = rateOf(recovered, lost);
  const rateBefore =
    recovery.before && rateOf(ended(recovery.before, 'recovered'), ended(recovery.before, 'lost'));
  const closedPath = viewPath(shopPath(shop, '/recovery/closed'), view);
  const when =
    'days' in view.range
      ? `in the last ${view.range.days} days`
      : `during ${showPeriod(visit, view.period)} (UTC)`;
  const end = endOf(visit, view);
  const payments = `${formatCount(visit, owed.count)} ${owed.count === 1 ? 'payment' : 'payments'}`;
  return html`<p class="answer">
      ${
        owed.count === 0
          ? html`Nothing outstanding ${end}.`
          : html`<a href="${openPath(visit, view)}">${payments}</a> outstanding ${end}, ${money}.`
      }
    </p>
    <p>
      ${
        rate === undefined
          ? `No failed payment was recovered or lost ${when}.`
          : html`<a href="${closedPath}">${showRate(visit, rate)}</a> of those closed ${when} were
              recovered${rateBefore === undefined ? '' : `; ${showRate(visit, rateBefore)} ${view.comparison === 'year' ? 'a year earlier' : 'in the period before'}`}.`
      }
    </p>
    <p class="quiet">
      A failed payment is outstanding until it is paid, and then recovered, or until its
      subscription is cancelled, expires or fails, and then lost. Its amount is that of the first
      failed attempt.
    </p>`;
}

/** For a shop without data. */
export function emptyRecovery(visit: ShopVisit): Html {
  return html`<div class="card">
    <h2>No payments yet</h2>
    <p>
      Failed payments appear here: what is outstanding, how much of it comes back, and why payments
      fail, once a source brings them.
    </p>
    <p>${sourcesLink(visit)}</p>
  </div>`;
}
