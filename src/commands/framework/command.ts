import type { Act, Actor } from '../../acts.ts';
import type { Config } from '../../config/config.ts';
import { type Log, redact } from '../../log/log.ts';
import { type Io, print, printJson, tell } from './io.ts';
import { systemClock } from '../../clock.ts';
import { UsageError, CommandError, describeError } from '../../errors.ts';
import { minorDigitsOf } from '../../money.ts';

export const exitStatus = { done: 0, failed: 1, wrongUsage: 2, someRefused: 3 } as const;

/** What a command runs with, beside its options and arguments. */
export interface Context {
  readonly config: Config;
  readonly log: Log;
  readonly io: Io;
  /** The command, as the audit log has it. */
  readonly actor: Actor;
}

/** A command as the parser, the help and the completion see it. */
export interface Command {
  /** One or two words, as typed after `retention`. */
  readonly name: string;
  readonly about: string;
  /** Further lines of help. */
  readonly notes: readonly string[];
  /** What it enters in the audit log. */
  readonly acts: readonly Act[];
  readonly arguments: Parameters;
  readonly options: Parameters;
  /** @returns the exit status */
  run(given: Readonly<Record<string, unknown>>, context: Context): Promise<number>;
}

interface Definition<Arguments extends Parameters, Options extends Parameters, Result> {
  readonly name: string;
  readonly about: string;
  readonly notes?: readonly string[];
  readonly acts?: readonly Act[];
  readonly arguments?: Arguments;
  readonly options?: Options;
  run(given: Given<Arguments> & Given<Options>, context: Context): Promise<Result>;
}

/** A command that does its work and then prints what it did. */
interface Reporting<
  Arguments extends Parameters,
  Options extends Parameters,
  Result,
> extends Definition<Arguments, Options, Result> {
  /** What --json prints, where that is not the whole result. */
  document?(result: Result): unknown;
  /** The result for people. */
  show(result: Result, given: Given<Arguments> & Given<Options>): string;
  /** What is still to be said once the result is printed, and the exit status; done by default. */
  end?(result: Result, context: Context): number;
}

/** @param definition its run returns the exit status, or it has `show`, and gets the option --json */
export function defineCommand<
  Result,
  Arguments extends Parameters = {},
  Options extends Parameters = {},
>(definition: Reporting<Arguments, Options, Result>): Command;
export function defineCommand<Arguments extends Parameters = {}, Options extends Parameters = {}>(
  definition: Definition<Arguments, Options, number> & { readonly show?: never },
): Command;
export function defineCommand(
  definition: Definition<Parameters, Parameters, unknown> &
    Partial<Pick<Reporting<Parameters, Parameters, unknown>, 'document' | 'show' | 'end'>>,
): Command {
  const { name, about, notes = [], acts = [], run, document, show, end } = definition;
  const described = { name, about, notes, acts, arguments: definition.arguments ?? {} };
  const options = definition.options ?? {};
  if (!show) return { ...described, options, run: run as Command['run'] };
  return {
    ...described,
    options: { ...options, json: jsonFlag },
    async run(given, context) {
      const { io } = context;
      const result = await run(given, context);
      if (given['json']) printJson(io, document ? document(result) : result);
      else print(io, show(result, given));
      return end?.(result, context) ?? exitStatus.done;
    },
  };
}

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

type Given<All extends Parameters> = {
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
  return {
    hint,
    read(typed, name) {
      if (typed.trim() !== '') return typed;
      throw new UsageError(`${name} needs a value.`);
    },
  };
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

const date = /^\d{4}-\d\d-\d\d$/;
const timestamp = /^\d{4}-\d\d-\d\dT\d\d:\d\d:[0-5]\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/;

/** The database has no year 0. */
export const firstTime = Date.parse('0001-01-01T00:00:00Z');

/** @returns undefined unless it is a date or a time that there is, with an offset or Z; a date is its midnight in UTC */
function parseInstant(typed: string): Date | undefined {
  const dated = date.test(typed) ? `${typed}T00:00:00Z` : typed;
  if (!timestamp.test(dated)) return undefined;
  try {
    const at = Temporal.Instant.from(dated).epochMilliseconds;
    return at < firstTime ? undefined : new Date(at);
  } catch {
    return undefined;
  }
}

/** A time in the past, or now: given as a date, as a timestamp or as how long ago it was. */
export const past: Value<Date> = {
  hint: 'TIME',
  read(typed, name) {
    const now = systemClock.now();
    const ago = parseDuration(typed);
    if (ago !== undefined || typed === 'now') return new Date(now - (ago ?? 0));
    const instant = parseInstant(typed);
    if (!instant) {
      throw new UsageError(
        `${name} takes a date (its midnight in UTC), an ISO 8601 time with an offset or Z, such as 2026-11-21T16:00:00Z, how long ago in whole hours or days, such as 2h or 7d, or now, not "${typed}".`,
      );
    }
    if (instant.getTime() <= now) return instant;
    throw new UsageError(`${name} must not be in the future, as ${typed} is.`);
  },
};

/**
 * Explains what the user can fix in a sentence; anything else is a bug and shown in full.
 * @returns the exit status of the command that failed
 */
export function explain(error: unknown, io: Io): number {
  const isOurs = error instanceof UsageError || error instanceof CommandError;
  tell(io, redact(`retention: ${isOurs ? error.message : describeError(error)}`));
  return error instanceof UsageError ? exitStatus.wrongUsage : exitStatus.failed;
}
