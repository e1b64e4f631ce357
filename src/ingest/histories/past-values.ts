import type { Amounts, SeenValue } from '../../records/past-values.ts';
import { isoTime } from '../../iso-time.ts';
import {
  type Ratio,
  decimalText,
  priceDecimals,
  roundedText,
  shorten,
  unitsOf,
} from '../../money.ts';
import { type IntervalText, monthlyValue, parseInterval } from '../../mrr.ts';

/** What a subscription was worth at a time in the past. It says nothing of what came after. */
export interface ValueSighting {
  /** Epoch milliseconds. */
  readonly at: number;
  readonly amounts: Amounts;
  /** All of it; or what is billed together; or only what changed then. */
  readonly shows: 'all' | 'cycle' | 'change';
}

/** What a stored subscription is worth, and when it was seen. Epoch milliseconds. */
interface KnownValue {
  /** Null while it has always been worth what it is. */
  readonly past: readonly SeenValue[] | null;
  readonly amounts: Amounts;
  /** When what is stored now was seen, as far as its own columns say: updatedAt, else createdAt. */
  readonly ownTime: number;
  readonly isUpdated: boolean;
  /** When exports were made that had it, without times of its own. */
  readonly exports: readonly number[];
}

/** What a record says of a subscription's value. */
interface NewValue {
  readonly at: number;
  /** As it will be stored: updatedAt, else createdAt. */
  readonly ownTime: number;
  readonly amounts: Amounts;
  /** What it had been worth before, oldest first; a month each. */
  readonly stated: readonly { readonly at: number; readonly mrr: string }[];
}

interface Price {
  readonly currentPrice: string;
  /** What of it is billed at intervals of lines. */
  readonly otherIntervals: Readonly<Record<string, string>> | null;
  readonly intervalUnit: string | null;
  readonly intervalCount: number | null;
}

interface Times {
  readonly updatedAt: number | null;
  readonly createdAt: number;
}

/** When a record was seen, as far as its own columns say. */
export const ownTimeOf = ({ updatedAt, createdAt }: Times) => updatedAt ?? createdAt;

/** What is known of a stored subscription. @param exports when exports had it, without times of its own */
export function knownOf(
  stored: Price & Times & { readonly pastValues: string | null },
  exports: readonly number[],
): KnownValue {
  return {
    past: JSON.parse(stored.pastValues ?? 'null'),
    amounts: amountsOf(stored),
    ownTime: ownTimeOf(stored),
    isUpdated: stored.updatedAt !== null,
    exports,
  };
}

export function amountsOf(price: Price): Amounts {
  const { currentPrice, otherIntervals, intervalUnit, intervalCount } = price;
  const others = Object.entries(otherIntervals ?? {}).map(
    ([interval, sum]) => [interval, unitsOf(sum, priceDecimals)] as const,
  );
  const own = intervalUnit === null ? '' : `${intervalUnit} ${intervalCount}`;
  const rest = others.reduce(
    (left, [, units]) => left - units,
    unitsOf(currentPrice, priceDecimals),
  );
  return sumsOf([[own, rest], ...others]);
}

/** @param parts in units of the last decimal that a price may have */
export function sumsOf(parts: readonly (readonly [interval: string, units: bigint])[]): Amounts {
  const sums = Map.groupBy(parts, ([interval]) => interval);
  const entries = [...sums].map(
    ([interval, alike]) => [interval, alike.reduce((sum, [, units]) => sum + units, 0n)] as const,
  );
  return Object.fromEntries(
    entries
      .filter(([, units]) => units !== 0n)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([interval, units]) => [interval, shorten(decimalText(units, priceDecimals))]),
  );
}

/** The same, with the interval of its plan. */
export function atInterval(value: Amounts, interval: string): Amounts {
  return renamed(value, (key) => (key === '' ? interval : key));
}

function renamed(value: Amounts, nameOf: (interval: string) => string): Amounts {
  const parts = Object.entries(value).map(
    ([key, sum]) => [nameOf(key), unitsOf(sum, priceDecimals)] as const,
  );
  return sumsOf(parts);
}

/** What it comes to a month. */
export function monthlyOf(value: Amounts, planInterval: string): Ratio {
  return monthlyValue(
    Object.entries(atInterval(value, planInterval)).map(([interval, sum]) => ({
      ...parseInterval(interval as IntervalText),
      sum,
    })),
  );
}

/** What records may say of what a subscription was worth: a month each. */
const maxStated = 10_000;

/** What a subscription was worth, as a record states it; undefined if a value is higher than records may have. */
export function statedValues(
  past: readonly SeenValue[],
  { planInterval, createdAt }: { readonly planInterval: string; readonly createdAt: number },
): readonly { readonly at: string; readonly mrr: string }[] | undefined {
  const stated = past.flatMap(([at, value]) => {
    if (!value) return [];
    const mrr = shorten(roundedText(monthlyOf(value, planInterval), priceDecimals));
    return [{ at: isoTime(Math.max(at, createdAt)), mrr }];
  });
  if (stated.some(({ mrr }) => /^\d{13}/.test(mrr))) return undefined;
  return lastAtEachTime(stated).slice(-maxStated);
}

/** Several changes at one instant count as what they come to. @param values oldest first */
const lastAtEachTime = <Value extends { readonly at: number | string }>(values: readonly Value[]) =>
  values.filter(({ at }, index) => at !== values[index + 1]?.at);

/** What is known of a subscription that changes to a plan. @param left the interval and id of the plan that it leaves */
export function onPlan(known: KnownValue, planId: number, left: string): KnownValue {
  const moved = (value: Amounts) =>
    renamed(value, (key) => {
      const [, , plan] = key.split(' ');
      if (key === '') return left;
      return plan === String(planId) ? '' : key;
    });
  const past = known.past?.map(([at, value, ...rest]): SeenValue => [
    at,
    value ? moved(value) : null,
    ...rest,
  ]);
  return { ...known, amounts: moved(known.amounts), past: past ?? null };
}

interface Entry {
  readonly at: number;
  readonly amounts: Amounts;
  readonly isStated?: boolean;
}

const isSameValue = (a: Amounts, b: Amounts) => JSON.stringify(a) === JSON.stringify(b);

/** The past of a new subscription. */
export function pastOfNew(seen: NewValue, exports: readonly number[]): readonly SeenValue[] | null {
  return write(withStated([], seen), exports, seen.ownTime);
}

/**
 * The past of a subscription whose record is replaced. A time before the last one that is known counts as that, because
 * what is stored holds in the end.
 */
export function pastWith(known: KnownValue, seen: NewValue): readonly SeenValue[] | null {
  // As most are: exports say all of it.
  const isOfExports = known.past === null && !known.isUpdated && known.exports.includes(seen.at);
  const isSame =
    isOfExports && seen.stated.length === 0 && isSameValue(known.amounts, seen.amounts);
  if (isSame) return null;
  const entries = entriesOf(known);
  const at = Math.max(seen.at, entries.at(-1)?.at ?? seen.at);
  return write(withStated(entries, { ...seen, at }), known.exports, seen.ownTime);
}

/** The same for a record that is older than what is stored: what was seen after it counts from then on. */
export function pastWithOlder(known: KnownValue, seen: NewValue): readonly SeenValue[] | null {
  const entries = entriesOf(known);
  const later = entries.filter(({ at }) => at > seen.at);
  const [next] = later;
  if (!next || later.some(({ isStated }) => isStated)) return known.past;
  const earlier = withStated(entries, seen).filter(({ at }) => at < next.at);
  return write([...earlier, ...later], known.exports, known.ownTime);
}

/** What is left of it after a deletion. @param isAfter whether what was seen at a time was seen after that */
export function pastAfterDeletion(
  known: KnownValue,
  isAfter: (at: number) => boolean,
): readonly SeenValue[] | null {
  const entries = entriesOf(known);
  if (entries.some(({ at, isStated }) => isStated && isAfter(at))) return known.past;
  const left = entries.filter((each) => isAfter(each.at) || each === entries.at(-1));
  return write(left, known.exports, known.ownTime);
}

/** The same for a sighting, whose value is written as a known one before or after it, if that is the same. */
export function pastWithSighting(
  known: KnownValue,
  { at, amounts: value, shows }: ValueSighting,
  planInterval: string,
): readonly SeenValue[] | null {
  const entries = entriesOf(known);
  const next = entries.find((each) => each.at > at);
  const isAlike = (entry: Entry | undefined) =>
    entry !== undefined &&
    isSameValue(value, renamed(atInterval(entry.amounts, planInterval), withoutPlan));
  const same = [next, entries.findLast((each) => each.at <= at)].find(isAlike);
  if (shows === 'change' && (!next || same !== next)) return known.past;
  const own = renamed(value, (interval) => (interval === planInterval ? '' : interval));
  const seen = { at, ownTime: known.ownTime, amounts: same?.amounts ?? own, stated: [] };
  return pastWithOlder(known, seen);
}

const withoutPlan = (interval: string) => interval.split(' ', 2).join(' ');

/** What was known before a record, and the record. */
function withStated(entries: readonly Entry[], { at, amounts: value, stated }: NewValue): Entry[] {
  if (stated.length === 0) {
    return [...entries.filter((each) => each.at < at), { at, amounts: value }];
  }
  const [last, ...before] = stated.toReversed();
  const since = Math.max(at, last?.at ?? at);
  const values = [
    ...before.toReversed().map((each) => ({
      at: each.at,
      amounts: sumsOf([['month 1', unitsOf(each.mrr, priceDecimals)]]),
    })),
    { at: last?.at ?? at, amounts: value },
  ];
  return [...lastAtEachTime(values), { at: since, amounts: value, isStated: true }];
}

/** Each time at which the subscription was seen, with its value, oldest first. */
function entriesOf({ past, amounts: present, ownTime, isUpdated, exports }: KnownValue): Entry[] {
  const entries: Entry[] = [];
  for (const [at, value, isStated] of past ?? []) {
    const amountsThen = value ?? entries.at(-1)?.amounts ?? present;
    entries.push({ at, amounts: amountsThen, ...(isStated && { isStated }) });
  }
  if (past === null && (isUpdated || exports.length === 0)) {
    entries.push({ at: ownTime, amounts: present });
  }
  const [first] = entries;
  const times = new Set(entries.map(({ at }) => at));
  const ofExports = exports
    .filter((at) => !times.has(at))
    .map((at) => {
      const last = entries.findLast((each) => each.at < at) ?? first;
      return { at, amounts: last?.amounts ?? present };
    });
  return [...entries, ...ofExports].toSorted((a, b) => a.at - b.at);
}

/** Without what exports, or the columns of the record, say anyway. */
function write(
  entries: readonly Entry[],
  exports: readonly number[],
  ownTime: number,
): readonly SeenValue[] | null {
  const known = new Set(exports);
  const seen: SeenValue[] = [];
  for (const [index, { at, amounts: value, isStated }] of entries.entries()) {
    const before = entries[index - 1];
    const isNew = !before || !isSameValue(before.amounts, value);
    if (isStated) seen.push([at, isNew ? value : null, true]);
    else if (isNew) seen.push([at, value]);
    else if (!known.has(at)) seen.push([at]);
  }
  const [[at, , isStated] = [ownTime], ...others] = seen;
  return others.length === 0 && !isStated && (at === ownTime || known.has(at)) ? null : seen;
}
