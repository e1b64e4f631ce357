import { type SessionCount, type SessionTotals, totalsOf } from '../../metrics/cancel-flow.ts';
import { roundedShare } from '../../money.ts';
import type { Store } from '../../store/open.ts';
import type { Shop } from '../../store/shops.ts';
import {
  type OfferType,
  type DetectedReason,
  offerTypes,
  detectedReasons,
  sessionOutcomes,
} from '../../vocabulary.ts';
import { type Share, minCases, significanceOfShares } from '../../metrics/significance.ts';
import { type View, daysOf, viewPath, isoDay } from '../view/view.ts';
import type { Chart } from '../charts/chart.ts';
import { overTime, seriesOf, unitsOf } from '../charts/series.ts';
import { formatCount, formatRate, rateBase } from '../ui/formats.ts';
import { html } from '../../http/html.ts';
import { type Exhibit, tableExhibit } from '../framework/exhibits.ts';
import { help } from '../ui/elements.ts';
import { offerLabel, outcomeLabels, reasonLabels } from '../ui/labels.ts';
import { shopPath } from '../site.ts';
import { type FiguresVisit, readPeriods } from '../framework/page.ts';

export type Flow = NonNullable<Awaited<ReturnType<typeof readFlow>>>;

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

export const rateOf = (totals: SessionTotals): Share => ({
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
export function bestOffers({ counts }: Pick<Flow, 'counts'>): {
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
export function flowCharts(visit: FiguresVisit, flow: Flow): Chart[] {
  const { counts, shares } = unitsOf(visit);
  const byDay = Map.groupBy(flow.days, (each) => each.day);
  const days = daysOf(visit.view.period, (at) => ({ sessions: byDay.get(isoDay(at)) ?? [] }));
  const { totals, before } = flow;
  const held = Math.max(totals.saved, totals.cancelled, totals.abandoned);
  const { spans: groups, frame, span, rows } = overTime(visit, days, held);
  const spans = groups.map((group) => totalsOf(group.flatMap(({ sessions }) => sessions)));
  const list = '/cancel-flow/sessions';
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
        hrefs: rows(list, { outcome }),
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
      hrefs: rows(list, { outcome: 'ended' }),
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
export function matrixTable(visit: FiguresVisit, { counts }: Flow): Exhibit {
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
