import {
  type Deletion,
  type Line,
  type Payment,
  type Plan,
  type Refund,
  type Session,
  type Subscription,
  type Unit,
  type Upsert,
  type WorldRecord,
  keyOf,
  liesAhead,
  parentKeyOf,
  targetType,
} from './records.ts';
import { priceOf } from './money.ts';

type Verdict = 'stored' | 'replaced' | 'unchanged' | 'stale' | 'waiting';
type Counts = Record<'stored' | 'replaced' | 'deleted' | 'unchanged' | 'stale' | 'refused', number>;

interface NumberedLine {
  readonly number: number;
  readonly record: WorldRecord;
}

/** The order of refusal at the end of a run: parents before children, plans last. */
const refusalOrder = ['subscription', 'payment', 'refund', 'cancellation', 'plan'] as const;

/** What a subscription was from a time on, with the billing interval of a plan that it has left. */
interface Seen {
  readonly at: number;
  readonly record: Subscription;
  readonly interval?: readonly [Unit, number];
}

/** A shop's records in memory; imports change them line by line. */
export class ModelShop {
  readonly #records = new Map<string, Upsert>();
  readonly #seen = new Map<number, Seen[]>();
  readonly currency: string;
  readonly digits: number;

  /** @param digits decimals of the shop's currency */
  constructor(currency: string, digits: number) {
    this.currency = currency;
    this.digits = digits;
  }

  get plans(): Plan[] {
    return this.#all('plan') as Plan[];
  }
  get subscriptions(): Subscription[] {
    return this.#all('subscription') as Subscription[];
  }
  get payments(): Payment[] {
    return this.#all('payment') as Payment[];
  }
  get refunds(): Refund[] {
    return this.#all('refund') as Refund[];
  }
  get sessions(): Session[] {
    return this.#all('cancellation') as Session[];
  }

  planOf(subscription: Subscription): Plan {
    return this.#records.get(`plan ${subscription.planId}`) as Plan;
  }

  /** The lines of a subscription at an instant, and its billing interval. */
  pricedAt(subscription: Subscription, instant: number) {
    const seen = this.#seen.get(subscription.id) ?? [];
    const { record = subscription, interval } =
      seen.findLast(({ at }) => at <= instant) ?? seen[0] ?? {};
    const plan = this.planOf(subscription);
    const [unit, count] = interval ?? [plan.intervalUnit, plan.intervalCount];
    return {
      lines: record.lines,
      unit: record.intervalUnit ?? unit,
      count: record.intervalCount ?? count,
    };
  }

  /** Notes what a record shows, also one that is older than what is stored. */
  #see(
    record: Subscription,
    stored: Subscription | undefined,
    now: number,
    isStale: boolean,
  ): void {
    const before = this.#seen.get(record.id) ?? [];
    const undated = stored ? now : Date.parse(record.createdAt);
    const updatedAt = record.updatedAt === undefined ? undated : Date.parse(record.updatedAt);
    const isMoved = stored !== undefined && stored.planId !== record.planId;
    const intervalOf = ({ planId }: Subscription) => {
      const plan = this.#records.get(`plan ${planId}`) as Plan | undefined;
      return plan && ([plan.intervalUnit, plan.intervalCount] as const);
    };
    const at = Math.min(updatedAt, now);
    if (isStale) {
      const interval = isMoved ? intervalOf(record) : undefined;
      const later = before.filter((each) => each.at > at);
      const isOfPlan = priceOf(billedByPlan(record)) !== 0n;
      if (later.length === 0 || (isMoved && !interval && isOfPlan)) return;
      const one: Seen = interval ? { at, record, interval } : { at, record };
      this.#seen.set(record.id, [...before.filter((each) => each.at < at), one, ...later]);
      return;
    }
    const left = isMoved && stored ? intervalOf(stored) : undefined;
    const past = before.map((each): Seen =>
      left && !each.interval ? { ...each, interval: left } : each,
    );
    const since = Math.max(at, past.at(-1)?.at ?? at);
    this.#seen.set(record.id, [...past.filter((each) => each.at < since), { at: since, record }]);
  }

  /**
   * Runs one import. A record whose parent is missing waits until the end, and so do later ones with its key.
   * @param now by the importer's clock
   */
  import(
    records: readonly WorldRecord[],
    now: number,
  ): { counts: Record<string, Counts>; refused: number[] } {
    const counts: Record<string, Counts> = {};
    const refused: number[] = [];
    const count = (record: WorldRecord, what: keyof Counts) => {
      counts[record.type] ??= {
        stored: 0,
        replaced: 0,
        deleted: 0,
        unchanged: 0,
        stale: 0,
        refused: 0,
      };
      counts[record.type]![record.type === 'delete' && what === 'stored' ? 'deleted' : what] += 1;
    };
    const refuse = ({ number, record }: NumberedLine) => {
      count(record, 'refused');
      refused.push(number);
    };
    const pass = (lines: readonly NumberedLine[]) => {
      const waiting: NumberedLine[] = [];
      for (const line of lines) {
        const isHeldUp = waiting.some(({ record }) => keyOf(record) === keyOf(line.record));
        const verdict = isHeldUp ? 'waiting' : this.#apply(line.record, now);
        if (verdict === 'waiting') waiting.push(line);
        else count(line.record, verdict);
      }
      return waiting;
    };

    const lines = records.map((record, index) => ({ number: index + 1, record }));
    for (const line of lines) if (liesAhead(line.record, now)) refuse(line);
    let waiting = pass(lines.filter(({ record }) => !liesAhead(record, now)));
    while (waiting.length > 0) {
      const before = waiting.length;
      waiting = pass(waiting);
      if (waiting.length < before) continue;
      const unsatisfiable = firstOfSeveral(waiting);
      for (const line of unsatisfiable ? [unsatisfiable] : waiting) refuse(line);
      waiting = unsatisfiable ? waiting.filter((line) => line !== unsatisfiable) : [];
    }
    return { counts, refused: refused.toSorted((a, b) => a - b) };
  }

  #all(type: Upsert['type']): Upsert[] {
    return [...this.#records.values()].filter((record) => record.type === type);
  }

  #apply(record: WorldRecord, now: number): Verdict {
    if (record.type === 'delete') return this.#delete(record);
    const stored = this.#records.get(keyOf(record));
    const isStale = stored !== undefined && isOlder(record, stored);
    if (isStale && record.type === 'subscription') {
      this.#see(record, stored as Subscription, now, true);
    }
    if (isStale) return 'stale';
    if (stored && contentOf(stored) === contentOf(record)) return 'unchanged';
    const parent = parentKeyOf(record);
    if (parent !== undefined && !this.#records.has(parent)) return 'waiting';
    if (record.type === 'subscription') {
      this.#see(record, stored as Subscription | undefined, now, false);
    }
    this.#records.set(keyOf(record), record);
    return stored ? 'replaced' : 'stored';
  }

  #delete(deletion: Deletion): Verdict {
    const key = keyOf(deletion);
    if (!this.#records.has(key)) return 'unchanged';
    if (deletion.record === 'plan' && this.#childrenOf(key).length > 0) return 'waiting';
    this.#forget(key);
    return 'stored';
  }

  /** Deletes a record with those that need it; a session survives its subscription. */
  #forget(key: string): void {
    const record = this.#records.get(key);
    if (record?.type === 'subscription') this.#seen.delete(record.id);
    this.#records.delete(key);
    for (const child of this.#childrenOf(key)) {
      if (child.type !== 'cancellation') this.#forget(keyOf(child));
    }
  }

  #childrenOf(key: string): Upsert[] {
    return [...this.#records.values()].filter((record) => parentKeyOf(record) === key);
  }
}

/** The lines that are billed at the interval of the subscription's plan. */
function billedByPlan({ lines, intervalUnit }: Subscription): readonly Line[] {
  return intervalUnit === undefined ? lines.filter((line) => line.intervalUnit === undefined) : [];
}

function firstOfSeveral(lines: readonly NumberedLine[]): NumberedLine | undefined {
  const sameKey = (line: NumberedLine) =>
    lines.filter(({ record }) => keyOf(record) === keyOf(line.record));
  for (const type of refusalOrder) {
    const found = lines.find(
      (line) => targetType(line.record) === type && sameKey(line).length > 1,
    );
    if (found) return found;
  }
  return undefined;
}

function isOlder(record: Upsert, stored: Upsert): boolean {
  if (record.updatedAt === undefined || stored.updatedAt === undefined) return false;
  return Date.parse(record.updatedAt) < Date.parse(stored.updatedAt);
}

/** A record in normalised form: instants as numbers, amounts and cycles as strings. */
function contentOf(record: Upsert): string {
  return JSON.stringify(record, (key, value) => {
    if (value === undefined) return undefined;
    if (/At$|^at$|Date$/.test(key)) return value === null ? null : Date.parse(value);
    if (['amount', 'currentPrice', 'discountValue', 'cycle'].includes(key)) return String(value);
    if (value === null || typeof value !== 'object' || Array.isArray(value)) return value;
    return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  });
}
