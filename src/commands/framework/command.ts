import type { Config } from '../../config/config.ts';
import type { Log } from '../../log/log.ts';
import { type Io, print, printJson } from './io.ts';
import { type Given, type Parameters, jsonFlag } from './parameters.ts';

export const exitStatus = { done: 0, failed: 1, wrongUsage: 2, someRefused: 3 } as const;

/** What a command runs with, beside its options and arguments. */
export interface Context {
  readonly config: Config;
  readonly log: Log;
  readonly io: Io;
}

/** A command as the parser, the help and the completion see it. */
export interface Command {
  /** One or two words, as typed after `retention`. */
  readonly name: string;
  readonly about: string;
  /** Further lines of help. */
  readonly notes: readonly string[];
  readonly arguments: Parameters;
  readonly options: Parameters;
  /** @returns the exit status */
  run(given: Readonly<Record<string, unknown>>, context: Context): Promise<number>;
}

interface Definition<Arguments extends Parameters, Options extends Parameters, Result> {
  readonly name: string;
  readonly about: string;
  readonly notes?: readonly string[];
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
  const { name, about, notes = [], run, document, show, end } = definition;
  const described = { name, about, notes, arguments: definition.arguments ?? {} };
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
