import type { ImportRecord } from '../../../records/records.ts';
import { mapContract } from '../mapping/contract.ts';
import { Refusal } from '../mapping/fields.ts';
import { kinds } from './kinds.ts';
import type { BillingAttempt } from '../mapping/attempts.ts';
import type { Contract, ContractLine, SellingPlan, SellingPlanGroup } from '../mapping/nodes.ts';
import type { PaymentRecords } from '../mapping/payments.ts';
import { type AreShipped, mapSellingPlan } from '../mapping/plans.ts';
import type { Row } from './staging.ts';

/** A row with the record made from it, or with the reason why none was. */
export type MappedRow =
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
export function* recordsOfContract(
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
export function* recordsOfGroup(
  rows: readonly Row[],
  areShipped: AreShipped,
): Generator<MappedRow> {
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
