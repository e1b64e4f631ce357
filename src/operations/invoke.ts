import { z } from 'zod';
import type { Clock } from '../clock.ts';
import type { JsonObject } from '../json.ts';
import { refusal } from '../refusals.ts';
import type { Store } from '../store/open.ts';
import type { RequestSpan } from '../telemetry/traces.ts';
import type { Operation, OperationCaller } from './define.ts';
import { JsonText } from './coalesce.ts';

export interface InvokeParts {
  readonly store: Store;
  readonly clock: Clock;
  /** The request's span, if tracing is on. */
  readonly span?: RequestSpan | undefined;
}

/**
 * Runs an operation for an admitted caller: checks the scope, then the input, then queries the data.
 * @param input JSON values, not yet validated
 * @returns the payload, the same for every transport
 * @throws ServiceError scopeRequired, invalid or notFound
 */
export async function invoke(
  operation: Operation,
  caller: OperationCaller,
  input: JsonObject,
  { store, clock, span }: InvokeParts,
): Promise<JsonText> {
  if (!caller.scopes.includes(operation.scope)) {
    throw refusal('scopeRequired', operation.scope);
  }
  const checked = check(operation, input);
  const run = () =>
    store.readRecent(caller.shopId, (from) =>
      operation.run({ caller, store: from, clock }, checked),
    );
  const payload = await (span ? span.during(operation.tool, run) : run());
  return payload instanceof JsonText ? payload : new JsonText(JSON.stringify(payload));
}

/**
 * The input as its schema returns it. The schema sees neither unknown arguments, on each of which it would spend more than
 * it takes to count them (a message may have a hundred thousand), nor null for an optional one, which some MCP clients
 * send for what they leave out.
 * @throws ServiceError invalid, with everything that is wrong, in the schema's words
 */
function check({ input: schema }: Operation, input: JsonObject): Record<string, unknown> {
  const { shape } = schema;
  const expected = Object.keys(shape);
  const unknown = Object.keys(input).filter((name) => !expected.includes(name));
  const isGiven = (name: string) =>
    Object.hasOwn(input, name) && (input[name] !== null || !isOptional(shape[name]));
  const parsed = schema.safeParse(
    Object.fromEntries(expected.filter(isGiven).map((name) => [name, finite(input[name])])),
  );
  if (parsed.success && unknown.length === 0) return parsed.data;
  const problems = parsed.error?.issues.map(({ message }) => message) ?? [];
  if (unknown.length > 0) problems.push(unknownArguments(unknown, expected));
  throw refusal('invalid', [...new Set(problems)].join(' '));
}

/** An id with hundreds of digits is still a positive integer; parsing makes it Infinity, which is none. */
function finite(value: unknown): unknown {
  return value === Infinity ? Number.MAX_VALUE : value;
}

function isOptional(schema: z.core.$ZodType | undefined): boolean {
  return schema !== undefined && z.safeParse(schema, undefined).success;
}

const maxNamesShown = 10;

function unknownArguments(unknown: readonly string[], expected: readonly string[]): string {
  const shown = unknown.slice(0, maxNamesShown).map(clipName).join(', ');
  const others = unknown.length - maxNamesShown;
  const more = others > 0 ? `, … and ${others.toLocaleString('en')} more` : '';
  const known =
    expected.length === 0 ? 'There are no arguments.' : `Known are ${expected.join(', ')}.`;
  return `Unknown argument: ${shown}${more}. ${known}`;
}

const maxNameLength = 100;

/** The first 100 characters of what a request calls something, for use in a message. */
export function clipName(name: string): string {
  // Counts characters rather than code units, so that no surrogate pair is split.
  return Array.from(name.slice(0, 2 * maxNameLength))
    .slice(0, maxNameLength)
    .join('');
}
