import type { Clock } from '../clock.ts';
import type { ImportShop } from '../ingest/apply.ts';
import { type ImportCounts, type LineSource, importRecords } from '../ingest/import.ts';
import type { Line } from '../ingest/lines.ts';
import type { Snapshot } from '../ingest/snapshot.ts';
import { withoutValues } from '../mapping/field-reader.ts';
import type { RecordType } from '../records/records.ts';
import type { Log } from '../log/log.ts';
import type { Sql } from '../store/database.ts';
import type { SyncState } from '../store/feeds/platforms.ts';
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
  /** Why no record of this type is taken: another platform keeps it up. */
  whyNotTaken?(type: RecordType): string | undefined;
  /** Counts what became of the records. */
  readonly counts?: ImportCounts;
  /** Called with lines as they arrive; stops the import if it throws. */
  arrived?(lines: readonly Line[]): void;
  /** Called for each refused record, with the reason without values. */
  refused?(reason: string, line: Line, record: string | undefined): void;
}

/** The records that a sync refused, and the most frequent reasons. */
export interface RefusedRecords {
  readonly count: number;
  readonly at: Date;
  readonly reasons: readonly { readonly reason: string; readonly count: number }[];
}

/** @returns undefined if none was refused lately */
export function refusedRecordsOf(state: SyncState): RefusedRecords | undefined {
  const { refused: count, refusedRecordsAt: at, refusals } = state;
  return count === 0 || at === null ? undefined : { count, at, reasons: JSON.parse(refusals) };
}

const maxReasons = 100;
const shownReasons = 5;

/** Counts the reasons for which records are refused; of very many different ones only the first. */
export class RefusalCounter {
  readonly #counts = new Map<string, number>();

  add(reason: string): void {
    const count = this.#counts.get(reason);
    if (count === undefined && this.#counts.size === maxReasons) return;
    this.#counts.set(reason, (count ?? 0) + 1);
  }

  get mostFrequent(): RefusedRecords['reasons'] {
    return [...this.#counts]
      .map(([reason, count]) => ({ reason, count }))
      .toSorted((one, other) => other.count - one.count)
      .slice(0, shownReasons);
  }
}

interface StoreOptions {
  /** If the lines are everything of some types. */
  readonly snapshot?: Snapshot;
  /** Called for each refusal; `isEarly` as in `ImportOptions`. */
  refused?(source: string, isEarly: boolean): void;
}

/** A systematic problem may cause one refusal per record, every day. */
const maxRefusalsInLog = 100;

/**
 * Stores records given as lines.
 * @param account the shop's name at the platform
 */
export async function storeRecords(
  intake: Intake,
  account: string,
  lines: AsyncIterable<readonly Line[]>,
): Promise<ImportCounts> {
  return storeLines(intake, account, [{ name: account, lines }]);
}

/** Stores records from several sources, which may refer to each other. */
export async function storeLines(
  intake: Intake,
  account: string,
  sources: readonly LineSource[],
  { snapshot, refused }: StoreOptions = {},
): Promise<ImportCounts> {
  const { sql, shop, feed, clock, log, signal, linesPerTransaction, whyNotTaken, counts } = intake;
  let [refusals, warnings] = [0, 0];
  return importRecords(intake.arrived ? sources.map((each) => watch(each, intake)) : sources, {
    sql,
    shop,
    feed,
    clock,
    log,
    isFromFeed: true,
    // Only the caller knows whether the lines are complete.
    isPartial: true,
    ...(linesPerTransaction !== undefined && { linesPerTransaction }),
    ...(counts && { counts }),
    ...(snapshot && { snapshot }),
    ...(whyNotTaken && { whyNotTaken }),
    ...(signal && { signal }),
    refuse(source, line, problem, record, isEarly) {
      signal?.throwIfAborted();
      const reason = withoutValues(problem);
      refused?.(source, isEarly);
      intake.refused?.(source === account ? reason : `${source}: ${reason}`, line, record);
      refusals += 1;
      if (refusals > maxRefusalsInLog) return;
      const what = nameOf(source, line);
      log.warn({ shop: shop.id, account, what, reason }, 'record refused');
    },
    warn(source, line, warning) {
      warnings += 1;
      if (warnings > maxRefusalsInLog) return;
      log.warn({ shop: shop.id, account, source, line }, withoutValues(warning));
    },
    progress: () => signal?.throwIfAborted(),
  });
}

function watch({ name, lines }: LineSource, { arrived }: Intake): LineSource {
  async function* watched() {
    for await (const some of lines) {
      arrived?.(some);
      yield some;
    }
  }
  return { name, lines: watched() };
}

/** Names a refused line: by the source's id of a node, the type and id of a record, or where it is in its source. */
function nameOf(source: string, { text, number, recordId }: Line): string {
  if (!text.startsWith('{')) return text.slice(0, 150);
  const { type, id = recordId } = JSON.parse(text);
  return id === undefined ? `${source}, row ${number}` : `${type} ${id}`;
}

/** Sums counts over the types of records; `written` are those that changed something. */
export function totalsOf(...all: readonly ImportCounts[]) {
  const total = { written: 0, refused: 0, deleted: 0 };
  for (const { stored, replaced, refused, deleted } of all.flatMap((counts) =>
    Object.values(counts),
  )) {
    total.written += stored + replaced;
    total.refused += refused;
    total.deleted += deleted;
  }
  return total;
}
