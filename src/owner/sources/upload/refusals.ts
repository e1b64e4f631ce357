import type { Preview } from '../../../mapping/suggest/preview.ts';
import type { RefusalGroup, Refusals } from '../../../push/upload/refusals.ts';
import { type Html, html } from '../../../http/html.ts';
import type { ShopVisit } from '../../pages.ts';
import { countOf, formatCount } from '../../ui/formats.ts';
import { type TableColumn, plainTable } from '../../ui/table.ts';

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
