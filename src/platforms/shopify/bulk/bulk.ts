import type { LineSource } from '../../../ingest/import.ts';
import { type Line, recordLineOf } from '../../../ingest/lines.ts';
import { type MappedRow, recordsOfContract, recordsOfGroup } from './families.ts';
import type { ShopMoney } from '../mapping/fields.ts';
import { formatGid } from '../api/gid.ts';
import { kinds } from './kinds.ts';
import { readBulkLine } from './lines.ts';
import type { ContractLine } from '../mapping/nodes.ts';
import { type Row, Staging } from './staging.ts';

export interface BulkOptions {
  /** How many bytes of staged rows may be read from disk into memory at once. */
  readonly bytesInMemory?: number;
  /** Called with the number of lines read so far. */
  readonly progress?: (lines: number) => void;
}

/** Enough to keep the import busy while the next ones are made. */
const linesPerBatch = 1000;

/**
 * Converts results of Shopify's bulk operations to lines of records, plans first. The sources
 * contain contracts and selling plan groups, with parents and children in any order. So all of them
 * are read before the first record is made. Names, addresses and other unneeded fields are dropped
 * as each line is read.
 */
export async function* readBulkResults(
  sources: readonly LineSource[],
  shop: ShopMoney,
  { bytesInMemory, progress }: BulkOptions = {},
): AsyncGenerator<Line[]> {
  const [contracts, groups] = [new Staging(bytesInMemory), new Staging(bytesInMemory)];
  try {
    const reading = new BulkReading(sources, shop, contracts, groups);
    let read = 0;
    for (const [file, { lines }] of sources.entries()) {
      for await (const some of lines) {
        const refused = some.flatMap((line) => reading.take(file, line) ?? []);
        if (refused.length > 0) yield refused;
        read += some.length;
        progress?.(read);
      }
    }
    yield* reading.planLines();
    yield* reading.contractLines();
  } finally {
    await Promise.all([contracts.dispose(), groups.dispose()]);
  }
}

class BulkReading {
  readonly #sources: readonly LineSource[];
  readonly #shop: ShopMoney;
  readonly #contracts: Staging;
  readonly #groups: Staging;
  /** By selling plan: whether any line of a contract on it is shipped. */
  readonly #shipped = new Map<number, boolean>();
  /** Plans that already have a record in this run. */
  readonly #plans = new Set<number>();
  /** Error codes that were reported in this run. */
  readonly #unknownCodes = new Set<string>();

  constructor(
    sources: readonly LineSource[],
    shop: ShopMoney,
    contracts: Staging,
    groups: Staging,
  ) {
    this.#sources = sources;
    this.#shop = shop;
    this.#contracts = contracts;
    this.#groups = groups;
  }

  /** Stages what the line contains. @returns a line with the reason if it is refused */
  take(file: number, line: Line): Line | undefined {
    const reading = readBulkLine(line, this.#shop);
    if ('shownGid' in reading) {
      const { kind, shownGid, problem } = reading;
      return this.#refused(file, line.number, shownGid, kind?.countsAs ?? 'unknown', problem);
    }
    const { kind, gid, family, read, problem } = reading;
    if (kind.type === 'SubscriptionLine' && read) this.#noteShipping(read as ContractLine);
    const isGroup = (kind.parent ?? kind.type) === 'SellingPlanGroup';
    // A refused line refuses its contract; a refused attempt or plan is left out alone.
    if (read || kind.parent === undefined || kind.type === 'SubscriptionLine') {
      const staging = isGroup ? this.#groups : this.#contracts;
      staging.add([family, kinds.indexOf(kind), file, line.number, gid.key, read]);
    }
    if (problem === undefined) return undefined;
    const recordId = contractIdOf(kind.countsAs, family);
    return {
      ...this.#refused(file, line.number, formatGid(gid), kind.countsAs, problem),
      recordId,
    };
  }

  async *planLines(): AsyncGenerator<Line[]> {
    yield* this.#linesOf(this.#groups, (rows) => this.#mapGroup(rows));
  }

  async *contractLines(): AsyncGenerator<Line[]> {
    const claimPlan = (planId: number) => {
      if (this.#plans.has(planId)) return false;
      this.#plans.add(planId);
      return true;
    };
    yield* this.#linesOf(this.#contracts, (rows) =>
      recordsOfContract(
        rows,
        (planId) => this.#shipped.get(planId),
        claimPlan,
        this.#shop.minorDigits,
      ),
    );
  }

  *#mapGroup(rows: readonly Row[]): Generator<MappedRow> {
    for (const mapped of recordsOfGroup(rows, (planId) => this.#shipped.get(planId))) {
      if ('record' in mapped) this.#plans.add(Number(mapped.row[4]));
      yield mapped;
    }
  }

  async *#linesOf(
    staging: Staging,
    map: (rows: readonly Row[]) => Iterable<MappedRow>,
  ): AsyncGenerator<Line[]> {
    let lines: Line[] = [];
    for (const rows of staging.families()) {
      for (const mapped of map(rows)) lines.push(this.#lineOf(mapped));
      if (lines.length < linesPerBatch) continue;
      yield lines;
      lines = [];
    }
    yield lines;
  }

  #lineOf(mapped: MappedRow): Line {
    const [family, kind, file, number, key] = mapped.row;
    const { type = '', countsAs = 'unknown' } = kinds[kind] ?? {};
    if ('problem' in mapped) {
      const { problem, countsAs: as = countsAs } = mapped;
      const recordId = contractIdOf(as, family);
      return { ...this.#refused(file, number, formatGid({ type, key }), as, problem), recordId };
    }
    const line = { source: this.#nameOf(file), number, record: mapped.record };
    const code = mapped.unknownCode;
    if (code === undefined || this.#unknownCodes.has(code)) return recordLineOf(line);
    this.#unknownCodes.add(code);
    const warning = `a billing attempt has an unknown error code: ${code}; counting it as a failed payment`;
    return recordLineOf({ ...line, warning });
  }

  /** Keeps only the GID of a refused line: the rest may be personal data. */
  #refused(file: number, number: number, gid: string, countsAs: string, problem: string): Line {
    return { source: this.#nameOf(file), number, text: gid, countsAs, problem };
  }

  #nameOf(file: number): string {
    return this.#sources[file]?.name ?? '';
  }

  #noteShipping({ sellingPlanId, requiresShipping }: ContractLine): void {
    if (sellingPlanId === null || requiresShipping === null) return;
    this.#shipped.set(sellingPlanId, requiresShipping || this.#shipped.get(sellingPlanId) === true);
  }
}

/** A refused contract is still a subscription that the shop has. */
function contractIdOf(countsAs: string, family: number): number | undefined {
  return countsAs === 'subscription' ? family : undefined;
}
