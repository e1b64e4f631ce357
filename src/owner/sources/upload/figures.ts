import type { ImportCounts } from '../../../ingest/import.ts';
import { figures as all } from '../../../metrics/figures.ts';
import type { Figures } from '../../../metrics/rehearse.ts';
import { type Html, html } from '../../../http/html.ts';
import type { Rehearsal } from '../../../push/upload/rehearsals.ts';
import type { ShopVisit } from '../../pages.ts';
import { formatCount, formatFigure } from '../../ui/formats.ts';
import { type TableColumn, plainTable } from '../../ui/table.ts';

const kinds = {
  stored: 'New',
  replaced: 'Changed',
  unchanged: 'Unchanged',
  stale: 'Older than stored',
  deleted: 'Deleted',
  refused: 'Refused',
} as const;
type Kind = keyof typeof kinds;

/** What types of records are called. */
export const typeNames: Readonly<Record<string, string>> = {
  plan: 'Plans',
  subscription: 'Subscriptions',
  payment: 'Payments',
  refund: 'Refunds',
  cancellation: 'Cancel-flow sessions',
  delete: 'Deletions',
  unknown: 'Unreadable lines',
};

/** What becomes of the records of each type. */
export function countsTable(visit: ShopVisit, counts: ImportCounts, caption: string): Html {
  const rows = Object.entries(counts);
  return plainTable(
    rows,
    [
      ['Records', ([type]) => typeNames[type] ?? type, 'head'],
      ...(Object.keys(kinds) as Kind[]).map((kind): TableColumn<(typeof rows)[number]> => [
        kinds[kind],
        ([, each]) => formatCount(visit, each[kind]),
        'number',
      ]),
    ],
    { look: 'brief', caption },
  );
}

/** How many records are taken in any way. */
export const takenOf = (counts: ImportCounts): number =>
  Object.values(counts).reduce(
    (sum, each) => sum + each.stored + each.replaced + each.unchanged + each.stale + each.deleted,
    0,
  );

export const refusedOf = (counts: ImportCounts): number =>
  Object.values(counts).reduce((sum, { refused }) => sum + refused, 0);

/**
 * What a rehearsal in a copy of the shop has come to.
 * @param path of the page, which shows the figures later @param none what is said if they are not known
 */
export function rehearsalPart(
  visit: ShopVisit,
  rehearsal: Rehearsal,
  { what, path, none }: { readonly what: string; readonly path: string; readonly none: Html },
): Html {
  const found =
    rehearsal.kind === 'running'
      ? html`<p role="status" class="quiet">
          The ${what} is being rehearsed in a copy of your shop.
          <a href="${path}">Show the figures</a>
        </p>`
      : rehearsal.kind === 'none'
        ? none
        : html`${figuresTable(visit, rehearsal.figures, `Figures before and after the ${what}`)}
          ${countsTable(visit, rehearsal.counts, 'What would become of the records')}`;
  const refresh = rehearsal.kind === 'running' && html` data-refresh`;
  return html`<section aria-labelledby="figures-title" ${refresh}>
    <h2 id="figures-title">Figures before and after</h2>
    ${found}
  </section>`;
}

/** The figures that an import changes, and the two that everybody asks for. */
export function figuresTable(visit: ShopVisit, { before, after }: Figures, caption: string): Html {
  const main = new Set<string>(['mrr', 'activeSubscribers']);
  const shown = Object.values(all).filter(
    ({ field }) => main.has(field) || before[field] !== after[field],
  );
  return plainTable(
    shown,
    [
      ['Figure', ({ name }) => name, 'head'],
      ['Before', (figure) => formatFigure(visit, figure, before[figure.field]), 'number'],
      ['After', (figure) => formatFigure(visit, figure, after[figure.field]), 'number'],
    ],
    { look: 'brief', caption },
  );
}
