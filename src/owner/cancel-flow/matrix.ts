import { html } from '../../http/html.ts';
import { type SessionCount, type SessionTotals, totalsOf } from '../../metrics/cancel-flow.ts';
import {
  type DetectedReason,
  type OfferType,
  detectedReasons,
  offerTypes,
} from '../../vocabulary.ts';
import { type Exhibit, tableExhibit } from '../framework/exhibits.ts';
import type { FiguresVisit } from '../framework/figures.ts';
import { help } from '../ui/help.ts';
import { offerLabel, reasonLabels } from '../ui/labels.ts';
import { shopPath } from '../ui/layout.ts';
import { countFormat, formatShare } from '../ui/locale.ts';
import { viewPath } from '../view/view.ts';
import { type Flow, saveRateOf } from './flow.ts';

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
  const count = countFormat(visit);
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
      const rate = saveRateOf(totals);
      if (rate === null) return html`<span class="none">–</span>`;
      const name = html`<span class="visually-hidden">${nameOf(row)}, ${offerName}: </span>`;
      return html`${name}<strong>${formatShare(visit, rate)}</strong>
        <small>${count(totals.saved)} of ${count(totals.ended)}</small>`;
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
    look: 'matrix',
    isWide: true,
    isFirst: true,
    scrolls: true,
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
