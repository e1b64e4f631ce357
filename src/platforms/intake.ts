import type { Clock } from '../clock.ts';
import type { ImportShop } from '../ingest/apply.ts';
import { type ImportCounts, importRecords } from '../ingest/import.ts';
import type { Line } from '../ingest/lines.ts';
import type { Log } from '../log/log.ts';
import type { Sql } from '../store/database.ts';
import type { FeedName } from '../vocabulary.ts';

/** Where and how to store the records of a shop that follows a platform. */
export interface Intake {
  /** A connection that can write. */
  readonly sql: Sql;
  readonly shop: ImportShop;
  readonly feed: FeedName;
  readonly clock: Clock;
  readonly log: Log;
  /** Stops an import between two transactions; its reason is thrown. */
  readonly signal?: AbortSignal | undefined;
  /** Overrides the default, which suits every database. */
  readonly linesPerTransaction?: number | undefined;
}

/** A systematic problem may cause one refusal per record, every day. */
const maxRefusalsInLog = 100;

/**
 * Stores records given as lines.
 * @param account the shop's name at the platform
 */
export async function storeRecords(
  { sql, shop, feed, clock, log, signal, linesPerTransaction }: Intake,
  account: string,
  lines: AsyncIterable<readonly Line[]>,
): Promise<ImportCounts> {
  let refusals = 0;
  return importRecords([{ name: account, lines }], {
    sql,
    shop,
    feed,
    clock,
    log,
    isFromFeed: true,
    // Only the caller knows whether the lines are complete.
    isPartial: true,
    ...(linesPerTransaction !== undefined && { linesPerTransaction }),
    refuse(_source, line, reason) {
      signal?.throwIfAborted();
      refusals += 1;
      if (refusals > maxRefusalsInLog) return;
      log.warn({ shop: shop.id, account, what: nameOf(line), reason }, 'record refused');
    },
    progress: () => signal?.throwIfAborted(),
  });
}

/** Names a refused line: by the source's id of a node, or by the type and id of a record. */
function nameOf({ text }: Line): string {
  if (!text.startsWith('{')) return text.slice(0, 150);
  const { type, id } = JSON.parse(text);
  return `${type} ${id}`;
}

export function countRefused(counts: ImportCounts): number {
  return Object.values(counts).reduce((sum, { refused }) => sum + refused, 0);
}

/** Counts the records that changed something. */
export function countWritten(counts: ImportCounts): number {
  return Object.values(counts).reduce((sum, { stored, replaced }) => sum + stored + replaced, 0);
}
