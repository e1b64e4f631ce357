import { type Html, html } from '../../http/html.ts';
import { roundHalfAway, shopDigitsOf } from '../../money.ts';
import type { SessionTotals } from '../../metrics/cancel-flow.ts';
import { type Share, minCases, minRated } from '../../metrics/significance.ts';
import { showShareChange } from '../dashboard/changes.ts';
import { whyOf } from '../framework/why.ts';
import type { ShopVisit } from '../pages.ts';
import { offerLabel } from '../ui/labels.ts';
import { countOf, formatCount, formatMoney, formatRate } from '../ui/formats.ts';
import { dataBegins, viewPath } from '../view/view.ts';
import { showPeriod } from '../view/picker.ts';
import { type Flow, flowCharts, bestOffers, readFlow, rateOf, matrixTable } from './flow.ts';
import { shopPath } from '../site.ts';
import { emptySubject } from '../framework/empty.ts';
import { type FiguresVisit, definePage, periodAndSegment } from '../framework/page.ts';

/** Why customers wanted to cancel, what they were offered, and whether they stayed. */
export const cancelFlow = definePage({
  path: '/cancel-flow',
  title: 'Cancel flow',
  navigation: { group: 'Insights', icon: 'cancelFlow' },
  assets: ['charts', 'help'],
  pickers: periodAndSegment,
  files: { path: '/cancel-flow.csv', by: 'table' },
  read: ({ parts: { store }, shop, view }) => readFlow(store, shop, view),
  answer,
  charts: flowCharts,
  why: whyOf({
    figure: 'saveRate',
    betterWhen: 'higher',
    list: '/cancel-flow/sessions',
    filters: { outcome: 'ended' },
    names: { reason: 'reason' },
  }),
  tables: (visit, flow) => [matrixTable(visit, flow)],
  empty: (visit) =>
    emptySubject(visit, {
      title: 'No sessions yet',
      text: 'Cancel-flow sessions appear here: why a customer wanted to cancel, what they were offered, and whether they stayed, once a source brings them.',
      answer: '32 of 100 who wanted to cancel stayed.',
      rows: [
        ['Reason', 'Sessions', 'Saved'],
        ['Too expensive', '41', '14'],
        ['Too much product', '27', '17'],
      ],
    }),
});

const list = (texts: readonly string[]) => new Intl.ListFormat('en').format(texts);

/** What was saved, and what that keeps. */
function answer(visit: FiguresVisit, flow: Flow) {
  const { shop, view } = visit;
  const { totals, before, kept } = flow;
  const sessions = (outcome: string, text: string) => {
    const query = outcome === '' ? {} : { outcome };
    return html`<a href="${viewPath(shopPath(shop, '/cancel-flow/sessions'), view, query)}"
      >${text}</a
    >`;
  };
  const rate = rateOf(totals);
  const share = formatRate(visit, rate);
  const started = countOf(visit, totals.ended + totals.inProgress, 'session');
  const mrr = formatMoney(visit, roundHalfAway(kept.value, shopDigitsOf(shop.currency)));
  const keptPath = viewPath(shopPath(shop, '/subscriptions'), view, { figure: 'kept' });
  const change = before && changeOf(visit, rate, rateOf(before));
  return {
    text: html`${rate.of > 0 && html`${sessions('ended', share)} saved${change && html`, <small>${change}</small>`}. `}
    ${bestOffer(visit, flow)}`,
    note: html`${sessions('', started)} began ${showPeriod(visit, view.period)} (UTC),
      ${sessions('in_progress', formatCount(visit, totals.inProgress))} in progress;
      ${
        before
          ? `${formatCount(visit, before.ended + before.inProgress)} began in the period compared with`
          : dataBegins(visit, flow.firstDay)
      }.
      The rate is of those that have ended. The subscriptions saved bring in
      <a href="${keptPath}">${mrr}</a> a month today, from
      ${countOf(visit, kept.subscriptions, 'subscription')}.`,
  };
}

/** Which offer saves most. */
function bestOffer(visit: ShopVisit, flow: Flow): string {
  const { totals } = flow;
  if (totals.ended === 0) return 'No session that began in this period has ended.';
  const overall = formatRate(visit, rateOf(totals));
  const { offers, withoutOffer, isChance } = bestOffers(flow);
  const [best] = offers;
  if (!best) {
    return `Fewer than ${minCases} sessions ended after each offer, too few to say which saves most.`;
  }
  const names = list(offers.map(({ offer }) => `“${offerLabel(offer)}”`));
  const shareOf = (each: SessionTotals) =>
    each.ended < minRated
      ? formatRate(visit, rateOf(each))
      : `${formatRate(visit, rateOf(each))} of ${formatCount(visit, each.ended)}`;
  const shares = list(offers.map(shareOf));
  const verb = offers.length === 1 ? 'saves' : 'save';
  const found = `${names} ${verb} most: ${shares} sessions, against ${overall} overall.${isChance ? ' That may be chance.' : ''}`;
  return withoutOffer
    ? `Most were saved without an offer: ${shareOf(withoutOffer)} sessions. Of the offers, ${found}`
    : found;
}

function changeOf(visit: ShopVisit, now: Share, before: Share): Html | undefined {
  if (now.of === 0) return undefined;
  if (before.of === 0) return html`nothing to compare with`;
  return showShareChange(visit, before, now, 'higher');
}
