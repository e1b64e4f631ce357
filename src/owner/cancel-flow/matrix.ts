import { type Html, html } from '../../http/html.ts';
import {
  type SessionCount,
  type SessionTotals,
  totalsOf,
} from '../../metrics/cancel-flow/sessions.ts';
import {
  type DetectedReason,
  type OfferType,
  detectedReasons,
  offerTypes,
} from '../../vocabulary.ts';
import type { ShopVisit } from '../pages.ts';
import { offerLabel, reasonLabels } from '../ui/labels.ts';
import { help } from '../ui/help.ts';
import { shopPath } from '../ui/layout.ts';
import { csvLink } from '../framework/csv.ts';
import { countFormat, formatShare } from '../ui/locale.ts';
import { type View, viewPath } from '../view/view.ts';
import { type Flow, saveRateOf } from './flow.ts';

const allOffers: readonly (OfferType | null)[] = [...offerTypes, null];

/** Sessions with one reason, or with any, by what was offered. */
interface MatrixRow {
  readonly reason: DetectedReason | undefined;
  readonly cells: readonly (SessionTotals & { readonly offer: OfferType | null })[];
  readonly all: SessionTotals;
}

function rowOf(reason: DetectedReason | undefined, counts: readonly SessionCount[]): MatrixRow {
  const cells = allOffers.map((offer) => ({
    offer,
    ...totalsOf(counts.filter((each) => each.offer === offer)),
  }));
  return { reason, cells, all: totalsOf(counts) };
}

/** The reasons with sessions that ended, most frequent first, and all of them together. */
function matrixOf({ counts }: Pick<Flow, 'counts'>): MatrixRow[] {
  const byReason = Map.groupBy(counts, (each) => each.reason);
  const rows = detectedReasons
    .map((reason) => rowOf(reason, byReason.get(reason) ?? []))
    .filter(({ all }) => all.ended > 0)
    .toSorted((one, other) => other.all.ended - one.all.ended);
  return [...rows, rowOf(undefined, counts)];
}

const offerQuery = (offer: OfferType | null) => offer ?? 'none';

/** The save rate by reason and offer, as a table of links to the sessions. */
export function matrixTable(visit: ShopVisit, view: View, flow: Flow): Html {
  const count = countFormat(visit);
  const path = shopPath(visit.shop, '/cancel-flow/sessions');
  const cell = (totals: SessionTotals, query: Record<string, string>, label: string) => {
    const rate = saveRateOf(totals);
    if (rate === null) return html`<td class="number none">–</td>`;
    return html`<td class="number">
      <a href="${viewPath(path, view, { ...query, outcome: 'ended' })}"
        ><span class="visually-hidden">${label}: </span><strong>${formatShare(visit, rate)}</strong>
        <small>${count(totals.saved)} of ${count(totals.ended)}</small></a
      >
    </td>`;
  };
  const row = ({ reason, cells, all }: MatrixRow) => {
    const of = reason === undefined ? {} : { reason };
    const name = reason === undefined ? 'All reasons' : reasonLabels[reason];
    return html`<tr ${reason === undefined ? html`class="all"` : undefined}>
      <th scope="row">${name}</th>
      ${cells.map((each) =>
        cell(each, { ...of, offer: offerQuery(each.offer) }, `${name}, ${offerLabel(each.offer)}`),
      )}
      ${cell(all, of, `${name}, all offers`)}
    </tr>`;
  };
  return html`<section class="chart wide">
    <h2 class="small" id="matrix">
      Save rate by reason and offer
      ${help(
        'matrix',
        'Save rate by reason and offer',
        'Of the sessions that began in the period and have ended, the share that was saved. “–” where none ended.',
      )}
    </h2>
    <div class="scroll" tabindex="0" role="group" aria-labelledby="matrix">
      <table class="matrix" aria-labelledby="matrix">
        <thead>
          <tr>
            <th scope="col">Reason</th>
            ${allOffers.map((offer) => html`<th scope="col" class="number">${offer === null ? 'No offer' : offerLabel(offer)}</th>`)}
            <th scope="col" class="number">All</th>
          </tr>
        </thead>
        <tbody>
          ${matrixOf(flow).map(row)}
        </tbody>
      </table>
    </div>
    ${csvLink(viewPath(shopPath(visit.shop, '/cancel-flow.csv'), view, { table: 'matrix' }))}
  </section>`;
}

/** The same as a file: a line for each reason and offer. */
export function matrixCells(flow: Flow): (string | number | null)[][] {
  return matrixOf(flow).flatMap(({ reason, cells }) =>
    reason === undefined
      ? []
      : cells.map((each) => [
          reasonLabels[reason],
          offerLabel(each.offer),
          each.ended,
          each.saved,
          saveRateOf(each),
        ]),
  );
}
