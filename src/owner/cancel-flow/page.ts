import type { Answer } from '../../http/answer.ts';
import { type Html, html } from '../../http/html.ts';
import { chartAssets } from '../charts/assets.ts';
import { type Chart, chart } from '../charts/chart.ts';
import { roundHalfAway, shopDigitsOf } from '../../money.ts';
import type { SessionTotals } from '../../metrics/cancel-flow/sessions.ts';
import { minCases } from '../chance.ts';
import { changeOfShares } from '../dashboard/changes.ts';
import { showChangeFrom, wordsOf } from '../dashboard/words.ts';
import type { ShopVisit } from '../pages.ts';
import type { SegmentChoices } from '../segments/choices.ts';
import { segmentPicker } from '../segments/picker.ts';
import { page } from '../ui/answers.ts';
import { readAsset } from '../ui/assets.ts';
import { help, helpAssets } from '../ui/help.ts';
import { offerLabel } from '../ui/labels.ts';
import { layout, shopPath, sourcesLink } from '../ui/layout.ts';
import { formatCount, formatMoney, formatShare } from '../ui/locale.ts';
import { dataBegins } from '../view/earlier.ts';
import { periodPicker, showPeriod } from '../view/picker.ts';
import { type View, viewPath } from '../view/view.ts';
import { flowCharts } from './charts.ts';
import { type Flow, bestOffers, saveRateOf } from './flow.ts';
import { matrixTable } from './matrix.ts';

export const flowAssets = [readAsset('cancel-flow.css', import.meta.url)];

/** @param flow undefined for a shop without data */
export function flowPage(
  visit: ShopVisit,
  view: View,
  choices: SegmentChoices,
  flow: Flow | undefined,
): Answer {
  const { shop } = visit;
  const path = shopPath(shop, '/cancel-flow');
  const content = html`${periodPicker(visit, view, path)}
  ${segmentPicker(visit, view.segment, choices, path)}
  ${flow ? figures(visit, view, flow) : nothingYet(visit)}`;
  const assets = [...chartAssets, ...helpAssets, ...flowAssets];
  return page(layout(visit, { title: 'Cancel flow', content, assets }));
}

function nothingYet(visit: ShopVisit): Html {
  return html`<div class="card">
    <h2>No sessions yet</h2>
    <p>
      Cancel-flow sessions appear here: why a customer wanted to cancel, what they were offered, and
      whether they stayed, once a source brings them.
    </p>
    <p>${sourcesLink(visit)}</p>
  </div>`;
}

function figures(visit: ShopVisit, view: View, flow: Flow): Html {
  const draw = (each: Chart) =>
    chart(each, viewPath(shopPath(visit.shop, '/cancel-flow.csv'), view, { table: each.id }));
  return html`<p class="answer">${answer(visit, flow)}</p>
    <p class="quiet">
      Sessions that began ${showPeriod(visit, view.period)}
      (UTC)${
        flow.before
          ? html`, compared with ${showPeriod(visit, view.before)}`
          : `; ${dataBegins(visit, flow.firstDay)}`
      }.
    </p>
    ${mainFigures(visit, view, flow)}
    <div class="grid">
      ${matrixTable(visit, view, flow)} ${flowCharts(visit, view, flow).map(draw)}
    </div>
    <p>
      <a href="${viewPath(shopPath(visit.shop, '/cancel-flow/sessions'), view)}">All sessions</a>
    </p>`;
}

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

function mainFigures(visit: ShopVisit, view: View, flow: Flow): Html {
  const { totals, before } = flow;
  const { shop } = visit;
  const sessions = (outcome?: string) =>
    viewPath(
      shopPath(shop, '/cancel-flow/sessions'),
      view,
      outcome === undefined ? {} : { outcome },
    );
  const rate = saveRateOf(totals);
  const mrr = roundHalfAway(flow.kept.value, shopDigitsOf(shop.currency));
  const started = totals.ended + totals.inProgress;
  const kept = formatMoney(visit, shop, mrr);
  const { subscriptions } = flow.kept;
  const keptCount = `${formatCount(visit, subscriptions)} ${subscriptions === 1 ? 'subscription' : 'subscriptions'}`;
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
  const change = changeOfShares(
    { share: shareBefore, of: before.ended },
    { share, of: now.ended },
    'higher',
  );
  return showChangeFrom(wordsOf(visit), { format: 'share' }, change);
}
