import { may } from '../../../accounts/rights.ts';
import type { ImportCounts } from '../../../ingest/import.ts';
import { figures as all } from '../../../metrics/figures.ts';
import type { Figures } from '../../../metrics/rehearse.ts';
import { type Html, html } from '../../../http/html.ts';
import type { Rehearsal } from '../../../push/upload/rehearsals.ts';
import type { ShopVisit } from '../../pages.ts';
import { formatCount, formatFigure, countOf } from '../../ui/formats.ts';
import { type TableColumn, plainTable } from '../../ui/table.ts';
import type { Preview } from '../../../mapping/suggest/preview.ts';
import type { RefusalGroup, Refusals } from '../../../push/upload/refusals.ts';
import type { ImportRecord } from '../../../records/records.ts';
import { isoDay } from '../../view/view.ts';

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

/** The figures that an import changes, and the two that owners ask for first, for roles that see figures. */
export function figuresTable(visit: ShopVisit, { before, after }: Figures, caption: string): Html {
  if (!may(visit.shop.role, 'figures')) {
    return html`<p class="quiet">Your role does not include figures.</p>`;
  }
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

/** Why lines of a file are refused, and the first of those lines. */
export function refusalsPart(
  visit: ShopVisit,
  { groups, lines }: Refusals,
  total: number,
  verb: 'were' | 'would be',
): Html | undefined {
  if (total === 0) return undefined;
  const one = verb === 'were' ? 'was' : verb;
  return html`<h2>${countOf(visit, total, `record ${one}`, `records ${verb}`)} refused</h2>
    ${groupsTable(visit, groups, 'Reason', `Why records ${verb} refused`)}
    ${lines.length !== 0 && linesPart(visit, lines, total)}`;
}

const shownLines = 100;

function linesPart(visit: ShopVisit, lines: Refusals['lines'], total: number): Html {
  return html`<details class="lines">
    <summary>
      ${total > shownLines ? `The first ${shownLines} refused lines` : 'All refused lines'}
    </summary>
    <ol class="log">
      ${lines
        .slice(0, shownLines)
        .map(
          ({ line, reason, record }) =>
            html`<li>Line ${formatCount(visit, line)}${record && `, ${record}`}: ${reason}</li>`,
        )}
    </ol>
  </details>`;
}

const firstRecord: TableColumn<RefusalGroup> = ['First record', ({ record }) => record ?? '–'];

/** What lines have in common, most frequent first. */
export function groupsTable(
  visit: ShopVisit,
  groups: readonly RefusalGroup[],
  head: string,
  caption: string,
): Html {
  const areKnown = groups.some(({ record }) => record !== undefined);
  return plainTable(
    groups,
    [
      [html`${head}`, ({ reason }) => reason.replaceAll(': "…" ', ': its value ')],
      ['Records', ({ count }) => formatCount(visit, count), 'number'],
      ...(areKnown ? [firstRecord] : []),
      ['First line', ({ line }) => formatCount(visit, line), 'number'],
    ],
    { look: 'brief', caption },
  );
}

/** The same of the beginning of a file, of which only examples are known. */
export const refusalsOf = ({ refused }: Preview): Refusals => ({
  groups: refused.map(({ rows, ...group }) => ({ ...group, count: rows })),
  lines: [],
});

type First = Preview['first'][number];
type Other = Preview['others'][number];

const dash = html`<span class="quiet">–</span>`;
const day = (at: number | null | undefined) => (typeof at === 'number' ? isoDay(at) : dash);

const subscriptionColumns: readonly TableColumn<First>[] = [
  ['Line', ({ line }) => line],
  ['Subscription', ({ id }) => id || dash],
  ['Status', ({ status }) => status],
  ['Since', ({ createdAt }) => createdAt],
  ['Ended', ({ endedAt }) => endedAt || dash],
  ['Price', ({ price }) => price],
  ['Every', ({ interval }) => interval],
  ['Plan', ({ plan }) => plan || dash],
];

const otherColumns: readonly TableColumn<Other>[] = [
  ['Line', ({ line }) => line],
  ['Type', ({ record }) => record.type],
  ['ID', ({ record }) => String(record.id)],
  ['What', ({ record }) => partsOf(record).what || dash],
  ['When', ({ record }) => day(partsOf(record).at)],
  ['Amount', ({ record }) => partsOf(record).amount ?? dash],
];

interface Parts {
  readonly what?: string | null;
  readonly at?: number;
  readonly amount?: string;
}

/** What a list of records shows of one. */
function partsOf(record: ImportRecord): Parts {
  switch (record.type) {
    case 'plan':
      return { what: record.name };
    case 'subscription':
      return { what: record.status, at: record.createdAt };
    case 'payment':
      return { what: record.status, at: record.processedAt, amount: record.amount };
    case 'refund':
      return { at: record.refundedAt, amount: record.amount };
    case 'cancellation':
      return { what: record.outcome ?? record.detectedReason, at: record.createdAt };
    case 'delete':
      return { what: record.record };
  }
}

/** The first records of a file, as they would be stored. */
export function firstRecords({ first, others }: Preview): Html | undefined {
  const around = { look: 'brief', labelledBy: 'first-title' } as const;
  if (first.length > 0) {
    return html`<h3 id="first-title">The first subscriptions</h3>
      ${plainTable(first, subscriptionColumns, around)}`;
  }
  if (others.length === 0) return undefined;
  return html`<h3 id="first-title">The first records</h3>
    ${plainTable(others, otherColumns, around)}`;
}
