import type { LineSource } from '../../../ingest/import.ts';
import { type Line, recordLineOf } from '../../../ingest/lines.ts';
import { type ShopMoney, Refusal } from '../mapping/fields.ts';
import { formatGid } from '../api/ids.ts';
import { kinds, readBulkLine } from './lines.ts';
import type { ContractLine, Contract, SellingPlan, SellingPlanGroup } from '../mapping/nodes.ts';
import { type Row, Staging } from './staging.ts';
import type { ImportRecord } from '../../../records/records.ts';
import { mapContract } from '../mapping/contract.ts';
import type { BillingAttempt } from '../mapping/attempts.ts';
import type { PaymentRecords } from '../mapping/payments.ts';
import { type AreShipped, mapSellingPlan } from '../mapping/plans.ts';

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
  const reading = new BulkReading(sources, shop, bytesInMemory);
  try {
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
    await reading.dispose();
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

  constructor(sources: readonly LineSource[], shop: ShopMoney, bytesInMemory?: number) {
    this.#sources = sources;
    this.#shop = shop;
    this.#contracts = new Staging(bytesInMemory);
    this.#groups = new Staging(bytesInMemory);
  }

  async dispose(): Promise<void> {
    await Promise.all([this.#contracts.dispose(), this.#groups.dispose()]);
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
    return this.#refused(file, line.number, formatGid(gid), kind.countsAs, problem, family);
  }

  *planLines(): Generator<Line[]> {
    yield* this.#linesOf(this.#groups, (rows) => this.#mapGroup(rows));
  }

  *contractLines(): Generator<Line[]> {
    const claimPlan = (planId: number) => {
      if (this.#plans.has(planId)) return false;
      this.#plans.add(planId);
      return true;
    };
    const { minorDigits } = this.#shop;
    yield* this.#linesOf(this.#contracts, (rows) =>
      recordsOfContract(rows, this.#areShipped, claimPlan, minorDigits),
    );
  }

  *#mapGroup(rows: readonly Row[]): Generator<MappedRow> {
    for (const mapped of recordsOfGroup(rows, this.#areShipped)) {
      if ('record' in mapped) this.#plans.add(Number(mapped.row[4]));
      yield mapped;
    }
  }

  *#linesOf(
    staging: Staging,
    map: (rows: readonly Row[]) => Iterable<MappedRow>,
  ): Generator<Line[]> {
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
      return this.#refused(file, number, formatGid({ type, key }), as, problem, family);
    }
    const line = { source: this.#nameOf(file), number, record: mapped.record };
    const code = mapped.unknownCode;
    if (code === undefined || this.#unknownCodes.has(code)) return recordLineOf(line);
    this.#unknownCodes.add(code);
    const warning = `a billing attempt has an unknown error code: ${code}; counting it as a failed payment`;
    return recordLineOf({ ...line, warning });
  }

  /** Keeps only the GID of a refused line: the rest may be personal data. */
  #refused(
    file: number,
    number: number,
    gid: string,
    countsAs: string,
    problem: string,
    family?: number,
  ): Line {
    // A refused contract is still a subscription that the shop has.
    const recordId = countsAs === 'subscription' ? family : undefined;
    return { source: this.#nameOf(file), number, text: gid, countsAs, problem, recordId };
  }

  #nameOf(file: number): string {
    return this.#sources[file]?.name ?? '';
  }

  readonly #areShipped: AreShipped = (planId) => this.#shipped.get(planId);

  #noteShipping({ sellingPlanId, requiresShipping }: ContractLine): void {
    if (sellingPlanId === null || requiresShipping === null) return;
    this.#shipped.set(sellingPlanId, requiresShipping || this.#shipped.get(sellingPlanId) === true);
  }
}

/** A row with the record made from it, or with the reason why none was. */
type MappedRow =
  | {
      readonly row: Row;
      readonly record: ImportRecord;
      /** An error code of Shopify's that is not known. */
      readonly unknownCode?: string | undefined;
    }
  | {
      readonly row: Row;
      readonly problem: string;
      /** The record type that it counts as, if not that of the row. */
      readonly countsAs?: string;
    };

/** A contract or a group as it is in one file. */
interface Version {
  readonly parent: Row;
  readonly children: readonly Row[];
}

const kindOf = ([, kind]: Row) => kinds[kind];
const fileOf = ([, , file]: Row) => file;
const readOf = <T>([, , , , , read]: Row) => read as T;
const isRefused = (row: Row) => readOf(row) === null;
/**
 * 0 for groups, which have no such time: their versions stay in the order in which they were read.
 */
const updatedAtOf = (row: Row) => readOf<{ updatedAt?: number } | null>(row)?.updatedAt ?? 0;
const ofType = (rows: readonly Row[], type: string) =>
  rows.filter((row) => kindOf(row)?.type === type);

/**
 * The records of all versions of one contract, the oldest first.
 * @param claimPlan returns true once for each plan without a record, to store its stand-in
 * @param minorDigits decimals of the shop's currency
 */
function* recordsOfContract(
  rows: readonly Row[],
  areShipped: AreShipped,
  claimPlan: (planId: number) => boolean,
  minorDigits: number,
): Generator<MappedRow> {
  yield* mapVersions(rows, ({ parent, children }) => {
    const lines = ofType(children, 'SubscriptionLine');
    const attempts = ofType(children, 'SubscriptionBillingAttempt');
    if (lines.some(isRefused)) throw new Refusal('one of its lines was refused');
    const contract = readOf<Contract>(parent);
    const { plan, subscription, payments } = mapContract(
      {
        contract,
        lines: lines.map(readOf<ContractLine>),
        attempts: attempts.map(readOf<BillingAttempt>),
      },
      areShipped,
      minorDigits,
    );
    const mapped: MappedRow[] = [];
    if (claimPlan(plan.id)) mapped.push({ row: parent, record: plan });
    mapped.push({ row: parent, record: subscription });
    const problem = contract.firstOrderProblem;
    if (problem !== undefined) mapped.push({ row: parent, problem, countsAs: 'payment' });
    if (payments.first) addPayment(mapped, parent, payments.first);
    for (const [index, records] of payments.ofAttempts.entries()) {
      const row = attempts[index] as Row;
      addPayment(mapped, row, records, readOf<BillingAttempt>(row).unknownCode);
    }
    return mapped;
  });
}

function addPayment(
  mapped: MappedRow[],
  row: Row,
  { payment, refunds }: PaymentRecords,
  unknownCode?: string,
): void {
  mapped.push({ row, record: payment, unknownCode });
  for (const record of refunds) mapped.push({ row, record });
}

/** The records of the selling plans of one group; those that bill once have none. */
function* recordsOfGroup(rows: readonly Row[], areShipped: AreShipped): Generator<MappedRow> {
  yield* mapVersions(rows, ({ parent, children }) =>
    children.flatMap((row) => {
      const group = readOf<SellingPlanGroup>(parent);
      const record = mapSellingPlan(group, readOf<SellingPlan>(row), areShipped);
      return record ? [{ row, record }] : [];
    }),
  );
}

/** @param map throws a Refusal to refuse the whole version */
function* mapVersions(
  rows: readonly Row[],
  map: (version: Version) => MappedRow[],
): Generator<MappedRow> {
  const parents = rows
    .filter((row) => kindOf(row)?.parent === undefined)
    .toSorted((a, b) => updatedAtOf(a) - updatedAtOf(b));
  const refused: Version[] = [];
  const mapped = new Set<Row>();
  for (const parent of parents) {
    const version = { parent, children: childrenOf(parent, parents, rows) };
    if (isRefused(parent)) {
      refused.push(version);
      continue;
    }
    try {
      yield* map(version);
      if (parents.length > 1) for (const row of version.children) mapped.add(row);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      refused.push(version);
      yield { row: parent, problem: error.message };
    }
  }
  if (parents.length > 0 && refused.length === 0) return;
  const children = parents.length > 0 ? refused.flatMap((each) => each.children) : rows;
  for (const row of new Set(children)) {
    const [family] = row;
    if (isRefused(row) || mapped.has(row)) continue;
    const parent = kindOf(row)?.parent;
    const problem =
      parents.length > 0
        ? `its ${parent} was refused`
        : `its ${parent} ${family} is not in the input`;
    yield { row, problem };
  }
}

/**
 * The children of a parent: those in its file, and those in files without a version of it. If a
 * child occurs twice, the later one counts.
 */
function childrenOf(parent: Row, parents: readonly Row[], rows: readonly Row[]): Row[] {
  const children = new Map<string, Row>();
  for (const row of rows) {
    if (kindOf(row)?.parent === undefined) continue;
    const file = fileOf(row);
    const hasOtherParent =
      file !== fileOf(parent) && parents.some((other) => fileOf(other) === file);
    if (!hasOtherParent) children.set(`${row[1]} ${row[4]}`, row);
  }
  return [...children.values()];
}
