import { type KnownExport, maxKnownExports } from '../../store/records/sightings.ts';
import { type SubscriptionStatus, endedStatuses } from '../../vocabulary.ts';

/** Changes that a record states, oldest first. */
type Stated = readonly (readonly [at: number, to: SubscriptionStatus])[];

/** What an export showed of a subscription. */
export interface Sighting {
  /** When the export was made, in epoch milliseconds. */
  readonly at: number;
  readonly status: SubscriptionStatus;
  /** The changes that its record states, or its `updatedAt`, if it has either. */
  readonly since?: Stated | number | undefined;
}

/**
 * As it is stored: what the exports with these numbers showed. The first number is 0 for what was known otherwise; then
 * the second is a time.
 */
type StoredSighting = readonly [
  first: number,
  last: number,
  status: SubscriptionStatus,
  since?: Sighting['since'],
];

interface Change {
  /** Null if it is unknown. */
  readonly at: number | null;
  readonly to: SubscriptionStatus;
}

/** What follows from the sightings of a subscription. */
export interface History {
  readonly changes: readonly Change[];
  /** The same, to be compared. */
  readonly changesText: string;
  /** How often a complete export that lacked the subscription ended it. */
  readonly gone: number;
  /** When the last complete export that lacked the subscription deleted it, if one did. */
  readonly deletedAt: number | undefined;
  /** What the last export showed. */
  readonly last: Sighting;
}

/** Exports of one date whose records have different times of their own are different exports. */
function isSameExport(a: Sighting, b: Sighting): boolean {
  const haveTimes = typeof a.since === 'number' && typeof b.since === 'number';
  return a.at === b.at && !(haveTimes && a.since !== b.since);
}

/** Compares two by the time of which they say what the subscription was. */
export function inOrder(a: Pick<Sighting, 'at' | 'since'>, b: typeof a): number {
  return a.at - b.at || Number(a.since) - Number(b.since) || 0;
}

export function statusAfter(changes: readonly Change[]): SubscriptionStatus {
  return changes.at(-1)?.to ?? 'active';
}

/**
 * The sightings of a shop's subscriptions. All of them are kept, so that the order in which exports are imported makes
 * no difference; consecutive exports that showed the same take one entry (docs/decisions/0009-exports-and-deletions.md).
 */
export class Sightings {
  readonly exports: KnownExport[];
  /** Whether exports were added or changed. */
  isChanged = false;
  // Most subscriptions of a shop have been in the same exports with the same status.
  readonly #histories = new Map<string, History>();
  readonly #added = new Map<string, string>();
  readonly #undated = new Map<string | null, readonly number[]>();

  constructor(exports: readonly KnownExport[]) {
    this.exports = [...exports];
  }

  /**
   * @param isExport false for what is known otherwise than from an export
   * @returns the sightings with one more, as text; what the same export showed before is replaced
   */
  add(text: string | null, sighting: Sighting, isExport = true): string {
    const key = `${text} ${sighting.at} ${sighting.status} ${sighting.since} ${isExport}`;
    return this.#added.getOrInsertComputed(key, () => {
      const number = isExport ? this.#numberOf(sighting.at) : 0;
      const others = this.#read(text).filter((each) => !isSameExport(each, sighting));
      return write([...others, { ...sighting, number }]);
    });
  }

  /** Whether an export between two times has shown the subscription. */
  hasBetween(text: string, first: number, last: number): boolean {
    return this.#read(text).some(({ at }) => at >= first && at <= last);
  }

  /** When exports showed the subscription, since its last deletion, that did not say when it changed. */
  undatedTimesOf(text: string | null): readonly number[] {
    return this.#undated.getOrInsertComputed(text, () =>
      this.#sinceDeletion(text).flatMap(({ at, since }) => (typeof since === 'number' ? [] : [at])),
    );
  }

  /** When the subscription had changed that exports showed since its last deletion. */
  datedTimesOf(text: string): readonly number[] {
    return this.#sinceDeletion(text).flatMap(({ since }) =>
      typeof since === 'number' ? [since] : [],
    );
  }

  #sinceDeletion(text: string | null): readonly Sighting[] {
    if (text === null) return [];
    const { deletedAt = -Infinity } = this.historyOf(text);
    return this.#read(text).filter(({ at }) => at > deletedAt);
  }

  historyOf(text: string): History {
    return this.#histories.getOrInsertComputed(text, () => walk(this.#read(text), this.exports));
  }

  /** Notes that an export had all subscriptions. */
  complete({ at, since, gone }: Required<KnownExport>): void {
    const number = this.#numberOf(at) || this.exports.push({ at });
    const before = this.exports[number - 1]?.since ?? since;
    this.exports[number - 1] = { at, since: Math.min(since, before), gone };
    this.isChanged = true;
    this.#histories.clear();
    this.#undated.clear();
  }

  /** From 1; 0 if there are too many to give it a number. */
  #numberOf(at: number): number {
    const index = this.exports.findIndex((each) => each.at === at);
    if (index !== -1) return index + 1;
    if (this.exports.length >= maxKnownExports) return 0;
    this.isChanged = true;
    return this.exports.push({ at });
  }

  #read(text: string | null): (Sighting & { readonly number: number })[] {
    const stored: readonly StoredSighting[] = JSON.parse(text ?? '[]');
    return stored.flatMap(([first, last, status, since]) => {
      if (first === 0) return [{ number: 0, at: last, status, since }];
      return Array.from({ length: last - first + 1 }, (_, index) => {
        const number = first + index;
        return { number, at: this.exports[number - 1]?.at ?? 0, status, since };
      });
    });
  }
}

function write(sightings: readonly (Sighting & { readonly number: number })[]): string {
  const stored: StoredSighting[] = [];
  for (const { number, at, status, since } of sightings.toSorted(
    (a, b) => a.number - b.number || inOrder(a, b),
  )) {
    const rest = since === undefined ? ([status] as const) : ([status, since] as const);
    const [first = 0, last = 0, ...before] = stored.at(-1) ?? [];
    const goesOn =
      first > 0 && last + 1 === number && JSON.stringify(before) === JSON.stringify(rest);
    if (goesOn) stored[stored.length - 1] = [first, number, ...rest];
    else stored.push([number, number === 0 ? at : number, ...rest]);
  }
  return JSON.stringify(stored);
}

/** Goes through what exports showed, and what complete ones lacked, in order of their dates. */
function walk(sightings: readonly Sighting[], exports: readonly KnownExport[]): History {
  const times = new Set(sightings.map(({ at }) => at));
  const isLacking = ({ at, gone, since = at }: KnownExport) =>
    gone !== undefined &&
    !times.has(at) &&
    (since === at || !sightings.some((each) => each.at >= since && each.at <= at));
  const steps = [...sightings, ...exports.filter(isLacking)].toSorted(inOrder);
  let changes: Change[] = [];
  let isSeen = false;
  let gone = 0;
  let deletedAt: number | undefined;
  for (const step of steps) {
    if ('status' in step) {
      changes = withSighting(changes, step, isSeen);
      isSeen = true;
    } else if (step.gone === 'deleted') {
      // A deletion leaves no trace.
      changes = [];
      isSeen = false;
      deletedAt = step.at;
    } else if (isSeen && !endedStatuses.includes(statusAfter(changes))) {
      changes.push({ at: step.at, to: 'cancelled' });
      gone += 1;
    }
  }
  const last = sightings.toSorted(inOrder).at(-1) as Sighting;
  return { changes, changesText: JSON.stringify(changes), gone, deletedAt, last };
}

/** @param isSeen whether the subscription was seen before */
function withSighting(
  before: readonly Change[],
  { at, status, since }: Sighting,
  isSeen: boolean,
): Change[] {
  const changes = typeof since === 'object' ? withStated(before, since) : [...before];
  const updatedAt = typeof since === 'number' ? since : undefined;
  const last = changes.at(-1);
  if (statusAfter(changes) !== status) {
    changes.push({ at: updatedAt ?? (isSeen ? at : null), to: status });
  } else if (last?.at === null && updatedAt !== undefined) {
    changes[changes.length - 1] = { at: updatedAt, to: status };
  }
  return changes;
}

/** What is stated counts from its first change on; what exports showed before that stays. */
function withStated(before: readonly Change[], stated: Stated): Change[] {
  const [[first, to] = [0, 'active'] as const] = stated;
  const kept = before.filter(({ at }) => at !== null && at < first);
  while (kept.at(-1)?.to === to) kept.pop();
  return [...kept, ...stated.map(([at, next]) => ({ at, to: next }))];
}
