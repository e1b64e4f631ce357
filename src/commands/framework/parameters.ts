import { systemClock } from '../../clock.ts';
import { UsageError } from '../../errors.ts';
import { minorDigitsOf } from '../../money.ts';

/** What is typed after an option, or as an argument. */
export interface Value<T> {
  /** Stands for the value in the help, such as `ID`. */
  readonly hint: string;
  /** All values that there are, which shells complete. */
  readonly choices?: readonly string[];
  /**
   * @param name how the error names the option or argument: `--shop`
   * @throws UsageError
   */
  read(text: string, name: string): T;
}

/** An option or argument of a command. */
export interface Parameter<T> {
  readonly about: string;
  /** Undefined for a switch. */
  readonly value?: Value<unknown>;
  readonly isRequired?: true;
  readonly isList?: true;
  readonly fallback?: string;
  /** @param texts the values that were typed: at most one, except of a list */
  read(texts: readonly string[], name: string): T;
}

export type Parameters = Readonly<Record<string, Parameter<unknown>>>;

export type Given<All extends Parameters> = {
  readonly [Name in keyof All]: All[Name] extends Parameter<infer T> ? T : never;
};

export function required<T>(value: Value<T>, about: string): Parameter<T> {
  const read = ([typed = '']: readonly string[], name: string) => value.read(typed.trim(), name);
  return { about, value, isRequired: true, read };
}

export function optional<T>(value: Value<T>, about: string): Parameter<T | undefined> {
  const read = ([typed]: readonly string[], name: string) =>
    typed === undefined ? undefined : value.read(typed, name);
  return { about, value, read };
}

export function withDefault<T>(value: Value<T>, fallback: string, about: string): Parameter<T> {
  const read = ([typed = fallback]: readonly string[], name: string) => value.read(typed, name);
  return { about, value, fallback, read };
}

/** One or more. */
export function several<T>(value: Value<T>, about: string): Parameter<readonly T[]> {
  const read = (texts: readonly string[], name: string) =>
    texts.map((typed) => value.read(typed, name));
  return { about, value, isRequired: true, isList: true, read };
}

/** A switch. */
export function flag(about: string): Parameter<boolean> {
  return { about, read: (texts) => texts.length > 0 };
}

export const jsonFlag = flag('prints the result as one JSON document');

export function text(hint: string): Value<string> {
  return { hint, read: (typed) => typed };
}

export function oneOf<T extends string>(hint: string, choices: readonly T[]): Value<T> {
  return {
    hint,
    choices,
    read(typed, name) {
      const found = choices.find((each) => each === typed);
      if (found !== undefined) return found;
      throw new UsageError(`${name} must be one of ${choices.join(', ')}, not "${typed}".`);
    },
  };
}

export const id: Value<number> = {
  hint: 'ID',
  read(typed, name) {
    const number = /^\d{1,16}$/.test(typed) ? Number(typed) : 0;
    if (number >= 1 && Number.isSafeInteger(number)) return number;
    throw new UsageError(`${name} must be an integer from 1 to 9007199254740991, not "${typed}".`);
  },
};

export function whole(hint: string, min: number, max: number, what = 'a whole number') {
  return {
    hint,
    read(typed, name) {
      const number = /^\d{1,9}$/.test(typed) ? Number(typed) : -1;
      if (number >= min && number <= max) return number;
      throw new UsageError(`${name} must be ${what} from ${min} to ${max}, not "${typed}".`);
    },
  } satisfies Value<number>;
}

/** The code of a currency. */
export const currency: Value<string> = {
  hint: 'CUR',
  read(typed, name) {
    const code = typed.toUpperCase();
    if (minorDigitsOf(code) !== undefined) return code;
    throw new UsageError(`${name} must be an ISO 4217 code such as USD, not "${code}".`);
  },
};

const hoursOf: Readonly<Record<string, number>> = { h: 1, d: 24 };
const maxHours = 3650 * 24;

/** @returns milliseconds; undefined unless it is whole hours or days, up to 3650 days */
function parseDuration(typed: string): number | undefined {
  const [, count = '0', unit = 'h'] = /^(\d{1,5})([hd])$/.exec(typed) ?? [];
  const hours = Number(count) * (hoursOf[unit] ?? 0);
  return hours < 1 || hours > maxHours ? undefined : hours * 3_600_000;
}

/** In milliseconds. */
export const duration: Value<number> = {
  hint: 'DURATION',
  read(typed, name) {
    const milliseconds = parseDuration(typed);
    if (milliseconds !== undefined) return milliseconds;
    throw new UsageError(
      `${name} takes a whole number of hours or days, such as 24h or 30d, and at most 3650d, not "${typed}".`,
    );
  },
};

const timestamp = /^\d{4}-\d\d-\d\dT\d\d:\d\d:[0-5]\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/;

/** @returns undefined unless it is a time that there is, with an offset or Z */
function parseInstant(typed: string): Date | undefined {
  if (!timestamp.test(typed)) return undefined;
  try {
    return new Date(Temporal.Instant.from(typed).epochMilliseconds);
  } catch {
    return undefined;
  }
}

/** A time in the past, given as a timestamp or as how long ago it was. */
export const past: Value<Date> = {
  hint: 'TIME',
  read(typed, name) {
    const now = systemClock.now();
    const ago = parseDuration(typed);
    if (ago !== undefined) return new Date(now - ago);
    const instant = parseInstant(typed);
    if (!instant) {
      throw new UsageError(
        `${name} takes an ISO 8601 time with an offset or Z, such as 2026-11-21T16:00:00Z, or how long ago in whole hours or days, such as 2h or 7d, not "${typed}".`,
      );
    }
    if (instant.getTime() <= now) return instant;
    throw new UsageError(`${name} must not be in the future, as ${typed} is.`);
  },
};
