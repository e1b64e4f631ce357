import { type IntervalText } from '../../mrr.ts';
import { isoTime } from '../../iso-time.ts';
import { addInterval } from '../../intervals.ts';
import { type SubscriptionStatus, intervalUnits, subscriptionStatuses } from '../../vocabulary.ts';

/** How old a subscription is, in months since it was created; includes the first, excludes the last. */
export const ages = ['0-1', '1-3', '3-6', '6-12', '12-'] as const;
export type Age = (typeof ages)[number];

/** Both are included; decimals as text, in the shop's currency. */
interface PriceBand {
  readonly from: string | undefined;
  readonly to: string | undefined;
}

/** The subscriptions that meet all of these conditions now; at least one condition is there. */
export interface Segment {
  readonly plan?: number;
  /** The name of the group that the plan is in. */
  readonly group?: string;
  /** Of at least one of the lines. */
  readonly product?: number;
  /** The billing interval: its own, or that of its plan. */
  readonly interval?: IntervalText;
  /** As stored, as the list of subscriptions has it. */
  readonly status?: SubscriptionStatus;
  readonly age?: Age;
  readonly price?: PriceBand;
}

export type ConditionName = keyof Segment;

/** One condition in an address; `read` returns undefined for what is none. */
interface Condition<Value> {
  read(text: string): Value | undefined;
  write(value: Value): string;
  /** What was not understood, and what would be. */
  readonly problem: string;
}

/** An id in an address, in its canonical form; undefined for any other text. */
export const readId = (text: string) =>
  /^[1-9]\d{0,15}$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : undefined;

const readFrom =
  <Value extends string>(values: readonly Value[]) =>
  (text: string) =>
    values.find((each) => each === text);

/** Such as `active, paused or failed`. */
export const orList = (values: readonly string[]) =>
  values.length < 2 ? values.join() : `${values.slice(0, -1).join(', ')} or ${values.at(-1)}`;

type Values = Required<Segment>;

const conditions: { readonly [Name in ConditionName]: Condition<Values[Name]> } = {
  plan: { read: readId, write: String, problem: 'is not a plan number. Choose one of the plans.' },
  group: {
    // PostgreSQL has no texts with a zero byte.
    read: (text) => (text.includes('\0') ? undefined : text),
    write: String,
    problem: 'is not a group of plans. Choose one of the groups.',
  },
  product: {
    read: readId,
    write: String,
    problem: 'is not a product number. Choose one of the products.',
  },
  interval: {
    read: (text) => {
      const [unit = '', count = ''] = text.split('-');
      const known = readFrom(intervalUnits)(unit);
      return known && /^[1-9]\d{0,2}$|^1000$/.test(count) && text === `${unit}-${count}`
        ? `${known} ${Number(count)}`
        : undefined;
    },
    write: (interval) => interval.replace(' ', '-'),
    problem: 'is not a billing interval. Write, for example, month-1 or week-2.',
  },
  status: {
    read: readFrom(subscriptionStatuses),
    write: String,
    problem: `is not a status. Choose ${orList(subscriptionStatuses)}.`,
  },
  age: {
    read: readFrom(ages),
    write: String,
    problem: `is not an age in months. Choose ${orList(ages)}.`,
  },
  price: {
    read: (text) => {
      const [, from, to] = /^(\d{1,12}(?:\.\d{1,6})?)?-(\d{1,12}(?:\.\d{1,6})?)?$/.exec(text) ?? [];
      const isEmpty = from === undefined && to === undefined;
      const isReversed = from !== undefined && to !== undefined && Number(from) > Number(to);
      return isEmpty || isReversed ? undefined : { from, to };
    },
    write: ({ from = '', to = '' }) => `${from}-${to}`,
    problem:
      'is not a price from and to. Write, for example, 10-20, 10- or -20, the lower price first.',
  },
};

export const conditionNames = Object.keys(conditions) as readonly ConditionName[];

export interface ParsedSegment {
  /** The conditions that were understood; undefined if there are none. */
  readonly segment: Segment | undefined;
  readonly problem: string | undefined;
  /** The conditions that were not. */
  readonly wrong: readonly ConditionName[];
}

/** Reads the conditions in an address. A price may also be two parameters, as a form sends it. */
export function parseSegment(query: URLSearchParams): ParsedSegment {
  const found: [ConditionName, unknown][] = [];
  const problems = new Map<ConditionName, string>();
  for (const name of conditionNames) {
    const texts = query.getAll(name);
    const text = texts.every((each) => each === '') ? '' : texts.join('-');
    if (text === '') continue;
    const isOne = texts.length === 1 || name === 'price';
    const value = isOne ? conditions[name].read(text) : undefined;
    if (value === undefined) {
      const shown = texts.map((each) => `“${each}”`).join(' and ');
      const problem = isOne
        ? `“${text}” ${conditions[name].problem}`
        : `${shown} are too many. Choose one ${name}.`;
      problems.set(name, problem);
    } else found.push([name, value]);
  }
  return {
    segment: found.length === 0 ? undefined : (Object.fromEntries(found) as Segment),
    problem: problems.size === 0 ? undefined : [...problems.values()].join(' '),
    wrong: [...problems.keys()],
  };
}

/** The conditions as an address has them, always in the same order. */
export function segmentQuery(segment: Segment = {}): URLSearchParams {
  return new URLSearchParams(
    conditionNames.flatMap((name) => {
      const value = segment[name];
      return value === undefined ? [] : [[name, write(name, value)]];
    }),
  );
}

function write<Name extends ConditionName>(name: Name, value: Values[Name]): string {
  return conditions[name].write(value);
}

/**
 * When subscriptions of an age, or of any, were created: after `after`, and no later than `until`; as the database
 * writes it.
 */
export function createdWithin(
  age: Age | undefined,
  now: number,
): { readonly after: string; readonly until: string } {
  const [from, to] = (age ?? '0-').split('-').map(Number) as [number, number];
  const before = (months: number) => isoTime(addInterval(now, 'month', -months));
  return {
    after: to === 0 ? '-infinity' : before(to),
    until: from === 0 ? 'infinity' : before(from),
  };
}
