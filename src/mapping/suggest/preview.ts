import type { Clock } from '../../clock.ts';
import { type RecordOf, type ImportRecord, recordSchema } from '../../records/records.ts';
import type { ImportShop } from '../../ingest/apply.ts';
import { type Line, parseLine, recordNameOf } from '../../ingest/lines.ts';
import { isObject } from '../../json.ts';
import { type Ratio, add, multiply, parseDecimal, roundHalfAway, zero } from '../../money.ts';
import { priceOf } from '../../ingest/rows.ts';
import { monthlyFactor } from '../../mrr.ts';
import { mapRows, columnsOf, createMakers, readRows } from '../open.ts';
import type { Mapping } from '../schema.ts';
import type { Head } from './head.ts';
import { bytesOf } from './table.ts';
import { CommandError } from '../../errors.ts';

/** What an import makes of the beginning of a file. Nothing is stored. */
export interface Preview {
  /** The first records, with what the mapping reads of the file and nothing else. */
  readonly first: readonly ReturnType<typeof shownRecord>[];
  /** The first records of other types; plans only if there is nothing else. */
  readonly others: readonly OtherRecord[];
  /** Records by type. */
  readonly counts: Readonly<Record<string, number>>;
  readonly subscriptions: number;
  readonly customers: number;
  readonly plans: number;
  /** Subscriptions by status. */
  readonly statuses: Readonly<Record<string, number>>;
  readonly mrr: number;
  readonly skipped: number;
  /** How often each reason refuses a row, most frequent first, with the first line. */
  readonly refused: readonly Refusal[];
  readonly refusedRows: number;
  /** Whether these are all rows of the file. */
  readonly isWhole: boolean;
}

interface OtherRecord {
  readonly line: number;
  readonly record: ImportRecord;
}

interface Refusal {
  readonly reason: string;
  readonly line: number;
  /** The record of that line with its id, if that is known. */
  readonly record?: string | undefined;
  readonly rows: number;
}

interface PreviewContext {
  readonly shop: ImportShop;
  readonly clock: Clock;
  /** The date of the export, in epoch milliseconds. */
  readonly asOf: number | undefined;
}

type Subscription = RecordOf<'subscription'>;
type Plan = RecordOf<'plan'>;

const shownRecords = 10;
/** Rarer reasons than these are only counted. */
const maxReasons = 100;
const maxRecords = 20_000;

/** Reads a file's beginning by a mapping, as an import would. */
export async function previewMapping(
  file: string,
  head: Head,
  mapping: Mapping,
  { shop, clock, asOf }: PreviewContext,
): Promise<Preview> {
  const makers = createMakers(mapping, { shop, clock, asOf });
  const rows = readRows(file, bytesOf(head), mapping.input, columnsOf(makers));
  const skipped = { rows: 0 };
  const lines = mapRows(rows, makers, skipped);
  const idColumns = idColumnsOf(mapping);
  const preview = await previewLines(lines, head, { shop, clock, isFromFeed: true, idColumns });
  return { ...preview, skipped: skipped.rows };
}

interface LinesContext extends Omit<PreviewContext, 'asOf'> {
  readonly isFromFeed: boolean;
  /** The columns that mapped lines have the source's ids in. */
  readonly idColumns: readonly string[];
}

/** The same for lines of records, made of a file's beginning. */
export async function previewLines(
  chunks: AsyncIterable<readonly Line[]>,
  head: Head,
  { shop, clock, isFromFeed, idColumns }: LinesContext,
): Promise<Preview> {
  const schema = recordSchema(shop.minorDigits, clock, isFromFeed);
  const plans = new Map<number, Plan>();
  const subscriptions = new Map<number, Subscription>();
  const first: { readonly line: number; readonly record: Subscription; readonly id: string }[] = [];
  const refused = new Map<string, Omit<Refusal, 'reason'>>();
  const others: OtherRecord[] = [];
  const firstPlans: OtherRecord[] = [];
  const counts: Record<string, number> = {};
  let isWhole = head.isWhole;
  let count = 0;

  let refusedRows = 0;
  const refuse = (line: number, reason: string, record: string | undefined) => {
    refusedRows += 1;
    // Values differ from row to row, so that reasons are told apart without them.
    const general = reason.replaceAll(/"[^"]*"/g, '"…"');
    if (refused.size === maxReasons && !refused.has(general)) return;
    const known = refused.get(general) ?? { line, record, rows: 0 };
    refused.set(general, { ...known, rows: known.rows + 1 });
  };
  try {
    for await (const lines of chunks) {
      for (const each of lines) {
        const { number: line } = each;
        const parsed = parseLine(each, { schema, clock, isFromFeed });
        if ('problem' in parsed) {
          refuse(line, parsed.problem, recordNameOf(each, parsed));
          continue;
        }
        const { record } = parsed;
        counts[record.type] = (counts[record.type] ?? 0) + 1;
        if (record.type === 'subscription') {
          if (first.length < shownRecords) {
            first.push({ line, record, id: sourceIdOf(each, idColumns) ?? String(record.id) });
          }
          const known = subscriptions.get(record.id)?.updatedAt ?? 0;
          if ((record.updatedAt ?? known) >= known) subscriptions.set(record.id, record);
          continue;
        }
        if (record.type !== 'plan') {
          if (others.length < shownRecords) others.push({ line, record });
          continue;
        }
        // Up to 100,000, of which no page shows any.
        const plan = { ...record, productIds: [] };
        plans.set(plan.id, plan);
        if (firstPlans.length < shownRecords) firstPlans.push({ line, record: plan });
      }
      count += lines.length;
      if (count > maxRecords) {
        isWhole = false;
        break;
      }
    }
  } catch (error) {
    // The head may end inside a row.
    if (head.isWhole || !(error instanceof CommandError)) throw error;
  }

  const all = [...subscriptions.values()];
  const statuses: Record<string, number> = {};
  for (const { status } of all) statuses[status] = (statuses[status] ?? 0) + 1;
  return {
    first: first.map(({ line, record, id }) => shownRecord(line, id, record, plans)),
    others: others.length > 0 ? others : firstPlans,
    counts,
    subscriptions: all.length,
    customers: new Set(all.map(({ customerId }) => customerId)).size,
    plans: plans.size,
    statuses,
    mrr: roundHalfAway(mrrOf(all, plans, clock.now()), shop.minorDigits),
    skipped: 0,
    refused: [...refused]
      .map(([reason, each]) => ({ reason, ...each }))
      .toSorted((a, b) => b.rows - a.rows),
    refusedRows,
    isWhole,
  };
}

function idColumnsOf({ records }: Mapping): readonly string[] {
  const spec = records.find(({ type }) => type === 'subscription')?.fields['id'];
  return spec?.columns ?? (spec?.column === undefined ? [] : [spec.column]);
}

/** The id as the file has it. */
function sourceIdOf({ text }: Line, columns: readonly string[]): string | undefined {
  if (columns.length === 0) return undefined;
  const value: unknown = JSON.parse(text);
  const [row] = isObject(value) && Array.isArray(value['rows']) ? (value['rows'] as unknown[]) : [];
  const texts = isObject(row) && isObject(row['columns']) ? row['columns'] : {};
  return columns.map((column) => String(texts[column] ?? '')).join(' ');
}

function shownRecord(
  line: number,
  id: string,
  record: Subscription,
  plans: ReadonlyMap<number, Plan>,
) {
  const { unit, count } = intervalOf(record, plans);
  const ended = record.statusEvents.at(-1)?.at;
  return {
    line,
    id,
    status: record.status,
    createdAt: dayOf(record.createdAt),
    endedAt: ended == null ? '' : dayOf(ended),
    price: priceOf(record.lines),
    interval: count === 1 ? unit : `${count} ${unit}s`,
    plan: plans.get(record.planId)?.name ?? '',
  };
}

function dayOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}

function intervalOf(record: Subscription, plans: ReadonlyMap<number, Plan>) {
  const plan = plans.get(record.planId);
  return {
    unit: record.intervalUnit ?? plan?.intervalUnit ?? 'month',
    count: record.intervalCount ?? plan?.intervalCount ?? 1,
  };
}

/** Prices are summed by interval first, so that the sum has few denominators. */
function mrrOf(
  records: readonly Subscription[],
  plans: ReadonlyMap<number, Plan>,
  now: number,
): Ratio {
  const lines = records
    .filter(({ status, trialEndsAt }) => status === 'active' && now >= (trialEndsAt ?? 0))
    .flatMap((record) => {
      const { unit, count } = intervalOf(record, plans);
      return record.lines.map((line) => ({
        ...line,
        unit: line.intervalUnit ?? unit,
        count: line.intervalCount ?? count,
      }));
    });
  const groups = Object.groupBy(lines, ({ count, unit }) => `${count} ${unit}`);
  return Object.values(groups).reduce((total, alike = []) => {
    const [{ unit = 'month', count = 1 } = {}] = alike;
    return add(total, multiply(parseDecimal(priceOf(alike)), monthlyFactor(unit, count)));
  }, zero);
}
