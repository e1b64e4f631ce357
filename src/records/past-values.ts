import { isObject } from '../json.ts';

/**
 * What a subscription costs, by billing interval (`month 1`); '' is the interval of its plan, and that of a plan which it
 * had before is followed by the plan's id (`month 1 7`), as it may be corrected. Decimals without zeros at their end, and
 * no zeros, so that the same value is the same text.
 */
export type Amounts = Readonly<Record<string, string>>;

/** When a value was seen: from then on it counts. Without one, it was what it was before. */
export type SeenValue = readonly [
  at: number,
  amounts?: Amounts | null,
  /** Whether its record said all that came before. */
  isStated?: true,
];

export function arePastValues(value: unknown): value is readonly SeenValue[] {
  return Array.isArray(value) && value.length > 0 && value.every(isSeenValue);
}

function isSeenValue(value: unknown): value is SeenValue {
  if (!Array.isArray(value)) return false;
  const [at, amounts = null, isStated = true] = value;
  return (
    Number.isSafeInteger(at) &&
    (amounts === null || (isObject(amounts) && Object.entries(amounts).every(isAmount))) &&
    isStated === true
  );
}

function isAmount([interval, amount]: [string, unknown]): boolean {
  return (
    /^(?:(?:day|week|month|year) \d{1,4}(?: \d{1,16})?)?$/.test(interval) &&
    typeof amount === 'string' &&
    /^\d{1,30}(?:\.\d{1,12})?$/.test(amount)
  );
}
