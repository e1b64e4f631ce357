import type { LineSource } from '../../../ingest/import.ts';
import { type Line, lineOf } from '../../../ingest/lines.ts';
import { type Made, recordsOfContract, recordsOfGroup } from './families.ts';
import type { ShopMoney } from '../mapping/fields.ts';
import { formatGid } from '../api/gid.ts';
import { kinds } from './kinds.ts';
import { readBulkLine } from './lines.ts';
import type { ContractLine } from '../mapping/nodes.ts';
import { type Row, Staging } from './staging.ts';

export interface BulkOptions {
  /** The most bytes of what is staged on disk that are read into memory at once. */
  readonly bytesInMemory?: number;
  /** Called with how many lines were read so far. */
  readonly progress?: (lines: number) => void;
}

/** Enough to keep the import busy while the next ones are made. */
const linesAtATime = 1000;

/**
 * The results of Shopify's bulk operations as lines of records, plans first: contracts and selling
 * plan groups in any number of files, parents and children in any order. All of the input is read
 * before the first record is made. Names, addresses and whatever else is not needed go no further
 * than the line they stand in.
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
  /** Whether any line of a contract on this selling plan is shipped. */
  readonly #shipped = new Map<number, boolean>();
  /** Plans that have a record in this run. */
  readonly #plans = new Set<number>();

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

  /** Keeps what the line says until all are read, or gives back why it is refused. */
  take(file: number, line: Line): Line | undefined {
    const reading = readBulkLine(line, this.#shop);
    if ('shownGid' in reading) {
      const { kind, shownGid, problem } = reading;
      return this.#refused(file, line.number, shownGid, kind?.countsAs ?? 'unknown', problem);
    }
    const { kind, gid, family, read, problem } = reading;
    if (kind.type === 'SubscriptionLine' && read) this.#noteShipping(read as ContractLine);
    const isGroup = (kind.parent ?? kind.type) === 'SellingPlanGroup';
    // A contract is refused with a line of it; without an attempt or a plan, the rest stands.
    if (read || kind.parent === undefined || kind.type === 'SubscriptionLine') {
      const staging = isGroup ? this.#groups : this.#contracts;
      staging.add([family, kinds.indexOf(kind), file, line.number, gid.key, read]);
    }
    if (problem === undefined) return undefined;
    return this.#refused(file, line.number, formatGid(gid), kind.countsAs, problem);
  }

  async *planLines(): AsyncGenerator<Line[]> {
    yield* this.#linesOf(this.#groups, (rows) => this.#madeOfGroup(rows));
  }

  async *contractLines(): AsyncGenerator<Line[]> {
    const takesPlan = (planId: number) => {
      if (this.#plans.has(planId)) return false;
      this.#plans.add(planId);
      return true;
    };
    yield* this.#linesOf(this.#contracts, (rows) =>
      recordsOfContract(rows, (planId) => this.#shipped.get(planId), takesPlan),
    );
  }

  *#madeOfGroup(rows: readonly Row[]): Generator<Made> {
    for (const made of recordsOfGroup(rows, (planId) => this.#shipped.get(planId))) {
      if ('record' in made) this.#plans.add(Number(made.row[4]));
      yield made;
    }
  }

  async *#linesOf(
    staging: Staging,
    map: (rows: readonly Row[]) => Iterable<Made>,
  ): AsyncGenerator<Line[]> {
    let lines: Line[] = [];
    for await (const rows of staging.families()) {
      for (const made of map(rows)) lines.push(this.#lineOf(made));
      if (lines.length < linesAtATime) continue;
      yield lines;
      lines = [];
    }
    yield lines;
  }

  #lineOf(made: Made): Line {
    const [, kind, file, number, key] = made.row;
    const { type = '', countsAs = 'unknown' } = kinds[kind] ?? {};
    if ('problem' in made) {
      return this.#refused(file, number, formatGid({ type, key }), countsAs, made.problem);
    }
    return lineOf({ source: this.#nameOf(file), number, value: made.record });
  }

  /** Of a refused line only its GID is kept: the rest of it may be personal data. */
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
