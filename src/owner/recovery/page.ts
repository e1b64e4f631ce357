import { html } from '../../http/html.ts';
import { minRated } from '../../metrics/significance.ts';
import { amountOf, totalOf } from '../../metrics/recovery.ts';
import { showShareChange } from '../dashboard/changes.ts';
import { emptySubject } from '../framework/empty.ts';
import { type FiguresVisit, definePage, periodAndSegment } from '../framework/page.ts';
import { shopPath } from '../site.ts';
import { whyOf } from '../framework/why.ts';
import { countOf, formatCount, formatMoney, formatRate } from '../ui/formats.ts';
import { showPeriod } from '../view/picker.ts';
import { viewPath } from '../view/view.ts';
import {
  type Recovery,
  breakdowns,
  recoveryCharts,
  ended,
  rateOf,
  readRecovery,
} from './figures.ts';
import { endOf, openPath, sinceThen, viewOfEnd } from './cases.ts';
import { openCases } from './open.ts';

/** Rows of the list of outstanding payments that the page itself shows. */
const firstRows = 10;

/** Failed payments: what is outstanding, and what was recovered and lost. */
export const recovery = definePage({
  path: '/recovery',
  title: 'Recovery',
  navigation: { group: 'Insights', icon: 'recovery' },
  assets: ['charts'],
  pickers: periodAndSegment,
  files: { path: '/recovery/charts.csv', by: 'chart' },
  read: ({ parts: { store }, shop, view }) => readRecovery(store, shop, view),
  beside: (visit, reading: Promise<Recovery | undefined>) =>
    openCases.preview(visit.parts, visit, {
      view: viewOfEnd(visit.view),
      limit: firstRows,
      async summarise() {
        const data = await reading;
        return { open: data?.outstanding ?? [], closed: data?.closed ?? [], expected: null };
      },
    }),
  answer,
  charts: recoveryCharts,
  why: whyOf({ figure: 'recoveryRate', betterWhen: 'higher', list: '/recovery/closed' }),
  tables: (visit, data) => breakdowns(visit, data.closed),
  empty: (visit) =>
    emptySubject(visit, {
      title: 'No payments yet',
      text: 'Failed payments appear here: what is outstanding, how much of it comes back, and why payments fail, once a source brings them.',
      answer: '37 of 60 failed payments came back, and 23 are open.',
      rows: [
        ['Attempt', 'Payments', 'Recovered'],
        ['First', '60', '22'],
        ['Second', '38', '10'],
      ],
    }),
});

/** What is owed at the end of the period, and how much of what was owed came back, in words; then what to do. */
function answer(
  visit: FiguresVisit,
  { outstanding, closed, before }: Recovery,
  open: Awaited<ReturnType<typeof openCases.preview>> | undefined,
) {
  const { shop, view } = visit;
  const owed = totalOf(outstanding);
  const money = formatMoney(visit, amountOf(owed, shop.currency));
  const [recovered, lost] = [ended(closed, 'recovered'), ended(closed, 'lost')];
  const rate = rateOf(recovered, lost);
  const rateBefore = before && rateOf(ended(before, 'recovered'), ended(before, 'lost'));
  const closedPath = viewPath(shopPath(shop, '/recovery/closed'), view);
  const when =
    'days' in view.range
      ? `in the last ${view.range.days} days`
      : `during ${showPeriod(visit, view.period)} (UTC)`;
  const end = endOf(visit, view);
  const since = sinceThen(visit, view);
  const payments = countOf(visit, owed.count, 'payment');
  return {
    text: html`${
      owed.count === 0
        ? html`Nothing outstanding ${end}.`
        : html`<a href="${openPath(visit, view)}">${payments}</a> outstanding ${end}, ${money}.`
    }
    ${
      rate.of === 0
        ? `No failed payment was recovered or lost ${when}.`
        : html`<a href="${closedPath}">${formatRate(visit, rate)}</a>
            ${rate.of < minRated ? 'payments' : 'of those'} closed ${when} were
            recovered${rateBefore && rateBefore.of > 0 && html`, <small>${showShareChange(visit, rateBefore, rate, 'higher')}</small>`}.`
    }`,
    note: `A failed payment is outstanding until it is paid, and then recovered, or until its
      subscription is cancelled, expires or fails, and then lost. Its amount is that of the first
      failed attempt.`,
    // Of nothing, the answer says all there is to say.
    more:
      owed.count === 0
        ? since && html`<p class="quiet">${since}</p>`
        : html`<section>
            <h2>Outstanding ${end}</h2>
            ${since && html`<p class="quiet">${since}</p>`} ${open?.content}
            ${
              open?.isWhole === false &&
              html`<p>
                <a href="${openPath(visit, view)}">See all ${formatCount(visit, owed.count)}</a>
              </p>`
            }
          </section>`,
  };
}
