import { type Html, html } from '../../http/html.ts';
import { roundHalfAway, shopDigitsOf, roundedShare } from '../../money.ts';
import { type SessionTotals, type SessionCount, totalsOf } from '../../metrics/cancel-flow.ts';
import {
  type Share,
  minCases,
  minRated,
  significanceOfShares,
} from '../../metrics/significance.ts';
import { showShareChange } from '../dashboard/changes.ts';
import { whyOf } from '../framework/why.ts';
import type { ShopVisit } from '../pages.ts';
import { offerLabel, outcomeLabels, reasonLabels } from '../ui/labels.ts';
import { countOf, formatCount, formatMoney, formatRate, rateBase } from '../ui/formats.ts';
import { type View, dataBegins, viewPath, daysOf, isoDay } from '../view/view.ts';
import { showPeriod } from '../view/picker.ts';
import { shopPath } from '../site.ts';
import { emptySubject } from '../framework/empty.ts';
import { type FiguresVisit, definePage, periodAndSegment, readPeriods } from '../framework/page.ts';
import type { Store } from '../../store/open.ts';
import type { Shop } from '../../store/shops.ts';
import {
  type OfferType,
  type DetectedReason,
  offerTypes,
  detectedReasons,
  sessionOutcomes,
} from '../../vocabulary.ts';
import type { Chart } from '../charts/chart.ts';
import { overTime, seriesOf, unitsOf } from '../charts/series.ts';
import { type Exhibit, tableExhibit } from '../framework/exhibits.ts';
import { help } from '../ui/elements.ts';

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

function changeOf(visit: FiguresVisit, now: Share, before: Share): Html | undefined {
  if (now.of === 0) return undefined;
  if (before.of === 0) return html`nothing to compare with`;
  return showShareChange(visit, before, now, 'higher');
}

type Flow = NonNullable<Awaited<ReturnType<typeof readFlow>>>;

/**
 * The sessions that began in a period.
 * @returns undefined for a shop without data
 */
export function readFlow(store: Store, shop: Shop, view: View) {
  const { period, before: periodBefore, now } = view;
  return readPeriods(store, shop, view, async (figures, { firstDay, hasBefore }) => {
    const [counts, days, earlier, kept] = await Promise.all([
      figures.sessionCounts(period),
      figures.sessionDays(period),
      hasBefore ? figures.sessionDays(periodBefore) : undefined,
      figures.kept({ ...period, now }),
    ]);
    /** Of the period compared with; undefined if the shop's data begins later. */
    const before = earlier && totalsOf(earlier);
    return { counts, days, totals: totalsOf(counts), firstDay, before, kept };
  });
}

/** Saved sessions as a share of those that ended, as in the summary; null if none ended. */
function saveRateOf({ saved, ended }: SessionTotals): number | null {
  return ended === 0 ? null : roundedShare(BigInt(saved), BigInt(ended), 4);
}

const rateOf = (totals: SessionTotals): Share => ({
  share: saveRateOf(totals) ?? 0,
  of: totals.ended,
});

/** What became of the sessions after an offer, or after none. */
interface OfferTotals extends SessionTotals {
  readonly offer: OfferType | null;
}

const isBetter = (one: SessionTotals, other: SessionTotals) =>
  one.saved * other.ended > other.saved * one.ended;

/** Those with the highest save rate. */
const bestOf = <Totals extends SessionTotals>(all: readonly Totals[]) =>
  all.filter((each) => !all.some((other) => isBetter(other, each)));

const isDoubted = (best: SessionTotals, others: readonly SessionTotals[]) =>
  others.some((other) => significanceOfShares(rateOf(other), rateOf(best)).doubt !== undefined);

/**
 * The offers with the highest save rate, of those after which enough sessions ended; several only of the same rate.
 * `withoutOffer` is there if more were saved, of enough sessions, by no offer at all. It may be chance that each saves
 * more than the next best, or than all other sessions if no other offer has enough.
 */
function bestOffers({ counts }: Pick<Flow, 'counts'>): {
  readonly offers: readonly OfferTotals[];
  readonly withoutOffer: OfferTotals | undefined;
  readonly isChance: boolean;
} {
  const judged = [...offerTypes, null]
    .map((offer) => ({ offer, ...totalsOf(counts.filter((each) => each.offer === offer)) }))
    .filter(({ ended }) => ended >= minCases);
  const made = judged.filter(({ offer }) => offer !== null);
  const offers = bestOf(made);
  const withoutOffer = judged.find(
    (each) => each.offer === null && made.every((other) => isBetter(each, other)),
  );
  const isOther = ({ offer }: Pick<OfferTotals, 'offer'>) =>
    offers.every((best) => best.offer !== offer);
  const next = bestOf(made.filter(isOther));
  const rest = totalsOf(counts.filter(isOther));
  return {
    offers,
    withoutOffer,
    isChance:
      (withoutOffer !== undefined && isDoubted(withoutOffer, offers)) ||
      offers.some((each) => isDoubted(each, next.length > 0 ? next : [rest])),
  };
}

/** What became of the sessions, and the share that was saved, over time. */
function flowCharts(visit: FiguresVisit, flow: Flow): Chart[] {
  const { counts, shares } = unitsOf(visit);
  const byDay = Map.groupBy(flow.days, (each) => each.day);
  const days = daysOf(visit.view.period, (at) => ({ sessions: byDay.get(isoDay(at)) ?? [] }));
  const { totals, before } = flow;
  const held = Math.max(totals.saved, totals.cancelled, totals.abandoned);
  const { spans: groups, frame, span, rows } = overTime(visit, days, held);
  const spans = groups.map((group) => totalsOf(group.flatMap(({ sessions }) => sessions)));
  const caption = `Per ${span}, UTC, by when a session began`;
  const count = (value: number) => formatCount(visit, value);
  const share = (of: SessionTotals) => formatRate(visit, rateOf(of));
  return [
    {
      id: 'chart-outcomes',
      title: 'Sessions by outcome',
      headline: {
        now: `${count(totals.saved)} saved, ${count(totals.cancelled)} cancelled, ${count(totals.abandoned)} abandoned`,
        before:
          before &&
          `Compared with ${count(before.saved)}, ${count(before.cancelled)} and ${count(before.abandoned)}`,
      },
      caption,
      marks: 'bars',
      series: sessionOutcomes.map((outcome) => ({
        ...seriesOf(...outcomeLabels[outcome], spans, (each) => each[outcome]),
        hrefs: rows('/cancel-flow/sessions', { outcome }),
      })),
      ...frame,
      ...counts,
    },
    {
      id: 'chart-save-rate',
      title: 'Save rate',
      headline: {
        now: share(totals),
        before: before && `Compared with ${share(before)}`,
      },
      caption: `${caption}; none where no session ended`,
      marks: 'line',
      series: [{ name: 'Save rate', tone: 'kept', values: spans.map(saveRateOf) }],
      hrefs: rows('/cancel-flow/sessions', { outcome: 'ended' }),
      ...frame,
      ...shares,
    },
  ];
}

const allOffers: readonly (OfferType | null)[] = [...offerTypes, null];

/** Sessions with one reason, or with any. */
interface MatrixRow {
  readonly reason: DetectedReason | undefined;
  readonly counts: readonly SessionCount[];
  readonly all: SessionTotals;
}

/** The reasons with sessions that ended, most frequent first, and all of them together. */
function rowsOf(counts: readonly SessionCount[]): MatrixRow[] {
  const byReason = Map.groupBy(counts, (each) => each.reason);
  const rows = detectedReasons
    .map((reason) => ({ reason, counts: byReason.get(reason) ?? [] }))
    .map((row) => ({ ...row, all: totalsOf(row.counts) }))
    .filter(({ all }) => all.ended > 0)
    .toSorted((one, other) => other.all.ended - one.all.ended);
  return [...rows, { reason: undefined, counts, all: totalsOf(counts) }];
}

const withOffer = (counts: readonly SessionCount[], offer: OfferType | null) =>
  totalsOf(counts.filter((each) => each.offer === offer));

/** The save rate by reason and offer, as links to the sessions; the file has a line for each reason and offer. */
function matrixTable(visit: FiguresVisit, { counts }: Flow): Exhibit {
  const path = shopPath(visit.shop, '/cancel-flow/sessions');
  const rows = rowsOf(counts);
  const nameOf = ({ reason }: MatrixRow) =>
    reason === undefined ? 'All reasons' : reasonLabels[reason];
  const column = (
    label: string,
    offerName: string,
    query: Readonly<Record<string, string>>,
    totalsIn: (row: MatrixRow) => SessionTotals,
  ) => ({
    label,
    kind: 'number' as const,
    cell(row: MatrixRow) {
      const totals = totalsIn(row);
      if (totals.ended === 0) return html`<span class="none">–</span>`;
      const name = html`<span class="visually-hidden">${nameOf(row)}, ${offerName}: </span>`;
      return html`${name}<strong>${formatRate(visit, rateOf(totals))}</strong>
        ${rateBase(visit, totals.saved, totals.ended)}`;
    },
    href(row: MatrixRow) {
      if (totalsIn(row).ended === 0) return undefined;
      const reason = row.reason === undefined ? {} : { reason: row.reason };
      return viewPath(path, visit.view, { ...reason, ...query, outcome: 'ended' });
    },
  });
  const title = 'Save rate by reason and offer';
  return tableExhibit<MatrixRow>({
    id: 'matrix',
    noun: 'save-rates',
    title: html`${title}
    ${help(
      'matrix',
      title,
      'Of the sessions that began in the period and have ended, the share that was saved. “–” where none ended.',
    )}`,
    look: 'parts matrix',
    isWide: true,
    narrow: 'scrolls',
    rows,
    rowLook: ({ reason }) => (reason === undefined ? 'all' : undefined),
    columns: [
      { label: 'Reason', kind: 'head', cell: nameOf },
      ...allOffers.map((offer) =>
        column(
          offer === null ? 'No offer' : offerLabel(offer),
          offerLabel(offer),
          { offer: offer ?? 'none' },
          (row) => withOffer(row.counts, offer),
        ),
      ),
      column('All', 'all offers', {}, ({ all }) => all),
    ],
    file: () => ({
      heads: ['Reason', 'Offer', 'Sessions ended', 'Saved', 'Save rate'],
      rows: rows.flatMap(({ reason, counts: of }) =>
        reason === undefined
          ? []
          : allOffers.map((offer) => {
              const totals = withOffer(of, offer);
              const { ended, saved } = totals;
              return [reasonLabels[reason], offerLabel(offer), ended, saved, saveRateOf(totals)];
            }),
      ),
    }),
  });
}
