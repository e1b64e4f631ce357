import type { Readable } from 'node:stream';
import type { Answer } from '../../http/answer.ts';
import type { CaseRow, ClosedCaseRow, OpenCaseRow } from '../../metrics/recovery/cases.ts';
import { type Cell, csvFile, pagedRows } from '../csv/csv.ts';
import type { ShopVisit } from '../pages.ts';

/** Some rows of a list, and the cursor of the next. */
export interface CasePage<Row> {
  readonly rows: readonly Row[];
  readonly nextCursor: string | null;
}

type Read<Row> = (cursor?: string) => Promise<CasePage<Row>>;

const heads = ['Subscription', 'Customer', 'Failure code', 'Failed attempts', 'Amount', 'Currency'];

export function openFile(
  visit: ShopVisit,
  now: number,
  read: Read<OpenCaseRow>,
): Promise<Answer<Readable>> {
  const more = ['First failed (UTC)', 'Next billing (UTC)'];
  return casesFile(visit, 'outstanding-payments', now, more, read, (row) => [
    row.openedAt.toISOString(),
    row.nextBillingAt?.toISOString() ?? null,
  ]);
}

export function closedFile(
  visit: ShopVisit,
  now: number,
  read: Read<ClosedCaseRow>,
): Promise<Answer<Readable>> {
  const more = ['First failed (UTC)', 'Closed (UTC)', 'Result'];
  return casesFile(visit, 'closed-payments', now, more, read, (row) => [
    row.openedAt.toISOString(),
    row.closedAt.toISOString(),
    row.result,
  ]);
}

/** @param moreCells of a row, under the heads in `more` */
async function casesFile<Row extends CaseRow>(
  { shop }: ShopVisit,
  noun: string,
  now: number,
  more: readonly string[],
  read: Read<Row>,
  moreCells: (row: Row) => readonly Cell[],
): Promise<Answer<Readable>> {
  const rows = await pagedRows(read, (page) =>
    page.rows.map((row) => [
      row.subscriptionId,
      row.customerId,
      row.failureCode,
      row.attempts,
      Number(row.amount),
      shop.currency,
      ...moreCells(row),
    ]),
  );
  return csvFile({ shop, noun, now, heads: [...heads, ...more], rows });
}
