import { type Html, html } from '../../http/html.ts';
import { roundHalfAway, shopDigitsOf } from '../../money.ts';
import type { SessionTotals } from '../../metrics/cancel-flow.ts';
import { minCases } from '../../metrics/significance.ts';
import { showShareChange } from '../dashboard/changes.ts';
import { chartExhibit } from '../framework/exhibits.ts';
import type { ShopVisit } from '../pages.ts';
import { help } from '../ui/elements.ts';
import { offerLabel } from '../ui/labels.ts';
import { countOf, formatCount, formatMoney, formatShare } from '../ui/formats.ts';
import { dataBegins, viewPath } from '../view/view.ts';
import { showPeriod } from '../view/picker.ts';
import { type Flow, flowCharts, bestOffers, readFlow, saveRateOf, matrixTable } from './flow.ts';
import { shopPath } from '../site.ts';
import { emptySubject } from '../framework/empty.ts';
import { type FiguresVisit, definePage, periodAndSegment } from '../framework/page.ts';

/** Why customers wanted to cancel, what they were offered, and whether they stayed. */
export const cancelFlow = definePage({
  path: '/cancel-flow',
  title: 'Cancel flow',
  navigation: { group: 'Insights', icon: 'cancelFlow' },
  assets: ['charts', 'help', 'cancelFlow'],
  pickers: periodAndSegment,
  files: { path: '/cancel-flow.csv', by: 'table' },
  read: ({ parts: { store }, shop, view }) => readFlow(store, shop, view),
  answer: (visit, flow) => {
    const { before, period } = visit.view;
    const compared = flow.before
      ? `, compared with ${showPeriod(visit, before)}`
      : `; ${dataBegins(visit, flow.firstDay)}`;
    return html`<p class="answer">${answer(visit, flow)}</p>
      <p class="quiet">Sessions that began ${showPeriod(visit, period)} (UTC)${compared}.</p>`;
  },
  exhibits: (visit, flow) => [
    matrixTable(visit, flow),
    ...flowCharts(visit, flow).map((each) => chartExhibit(visit.shop, each)),
  ],
  body: (visit, flow, exhibits) =>
    html`${mainFigures(visit, flow)}
      <div class="grid">${exhibits}</div>
      <p>
        <a href="${viewPath(shopPath(visit.shop, '/cancel-flow/sessions'), visit.view)}"
          >All sessions</a
        >
      </p>`,
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

/** Which offer saves most. */
function answer(visit: ShopVisit, flow: Flow): string {
  const { totals } = flow;
  const rate = saveRateOf(totals);
  if (rate === null) return 'No session that began in this period has ended.';
  const overall = formatShare(visit, rate);
  const { offers, withoutOffer } = bestOffers(flow);
  const [best] = offers;
  if (!best) {
    return `${overall} were saved. Fewer than ${minCases} sessions ended after each offer, too few to say which saves most.`;
  }
  const shareOf = (each: SessionTotals) => formatShare(visit, saveRateOf(each) ?? 0);
  const names = list(offers.map(({ offer }) => `“${offerLabel(offer)}”`));
  const ended = list(offers.map((each) => formatCount(visit, each.ended)));
  const verb = offers.length === 1 ? 'saves' : 'save';
  const found = `${names} ${verb} most: ${shareOf(best)} of ${ended} sessions, against ${overall} overall.`;
  return withoutOffer
    ? `Most were saved without an offer: ${shareOf(withoutOffer)} of ${formatCount(visit, withoutOffer.ended)} sessions. Of the offers, ${found}`
    : found;
}

function mainFigures(visit: FiguresVisit, flow: Flow): Html {
  const { totals, before } = flow;
  const { shop, view } = visit;
  const sessions = (outcome?: string) =>
    viewPath(
      shopPath(shop, '/cancel-flow/sessions'),
      view,
      outcome === undefined ? {} : { outcome },
    );
  const rate = saveRateOf(totals);
  const mrr = roundHalfAway(flow.kept.value, shopDigitsOf(shop.currency));
  const started = totals.ended + totals.inProgress;
  const kept = formatMoney(visit, mrr);
  const keptCount = countOf(visit, flow.kept.subscriptions, 'subscription');
  const keptPath = viewPath(shopPath(shop, '/subscriptions'), view, { figure: 'kept' });
  return html`<dl class="main-figures${kept.length > 10 ? ' long' : ''}">
    ${figure(
      'saveRate',
      'Save rate',
      'Saved sessions as a share of the sessions that began in the period and have ended.',
      rate === null ? '–' : html`<a href="${sessions('ended')}">${formatShare(visit, rate)}</a>`,
      before && changeOf(visit, totals, before),
    )}
    ${figure(
      'started',
      'Sessions started',
      'Cancel-flow sessions that began in the period, including those in progress.',
      html`<a href="${sessions()}">${formatCount(visit, started)}</a>`,
      before &&
        html`${formatCount(visit, before.ended + before.inProgress)} in the period compared with`,
    )}
    ${figure(
      'inProgress',
      'In progress',
      'Sessions that began in the period and have no outcome yet.',
      html`<a href="${sessions('in_progress')}">${formatCount(visit, totals.inProgress)}</a>`,
    )}
    ${figure(
      'kept',
      'Revenue kept',
      'The monthly recurring revenue, at today’s prices, of the subscriptions that are active now and whose last saved session began in the period.',
      html`<a href="${keptPath}">${kept}</a>`,
      html`a month, from <a href="${keptPath}">${keptCount}</a>`,
    )}
  </dl>`;
}

/** @param more how it compares, or what it is of */
function figure(
  id: string,
  name: string,
  definition: string,
  value: Html | string,
  more?: Html,
): Html {
  return html`<div>
    <dt>${name} ${help(id, name, definition)}</dt>
    <dd class="value"><bdi data-flow="${id}">${value}</bdi></dd>
    <dd class="more">${more}</dd>
  </div>`;
}

function changeOf(visit: ShopVisit, now: SessionTotals, before: SessionTotals): Html | undefined {
  const [share, shareBefore] = [saveRateOf(now), saveRateOf(before)];
  if (share === null) return undefined;
  if (shareBefore === null) return html`Nothing to compare with`;
  const was = { share: shareBefore, of: before.ended };
  return showShareChange(visit, was, { share, of: now.ended }, 'higher');
}
