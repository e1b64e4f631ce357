import type { z } from 'zod';
import type { Clock } from '../clock.ts';
import { refusal } from '../refusals.ts';
import type { Store } from '../store/open.ts';
import type { RequestSpan } from '../telemetry/traces.ts';
import type { Operation, OperationCaller } from './define.ts';
import { JsonText } from './json-text.ts';

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
  input: unknown,
  { store, clock, span }: InvokeParts,
): Promise<JsonText> {
  if (!caller.scopes.includes(operation.scope)) {
    throw refusal('scopeRequired', operation.scope);
  }
  const parsed = operation.input.safeParse(input);
  if (!parsed.success) throw refusal('invalid', messageOf(parsed.error, operation));
  const run = () =>
    store.readRecent(caller.shopId, (from) =>
      operation.run({ caller, store: from, clock }, parsed.data),
    );
  const payload = await (span ? span.during(operation.tool, run) : run());
  return payload instanceof JsonText ? payload : new JsonText(JSON.stringify(payload));
}

/** Everything that is wrong with the input, in the schema's words. */
function messageOf(error: z.ZodError, { input }: Operation): string {
  const messages = error.issues.map((issue) =>
    issue.code === 'unrecognized_keys'
      ? `Unknown argument: ${issue.keys.map(clipName).join(', ')}. ${known(input)}`
      : issue.message,
  );
  return [...new Set(messages)].join(' ');
}

function known(input: z.ZodObject): string {
  const names = Object.keys(input.shape);
  return names.length === 0 ? 'There are no arguments.' : `Known are ${names.join(', ')}.`;
}

const maxNameLength = 100;

/** The first 100 characters of a name from a request, for use in a message. */
export function clipName(name: string): string {
  // Counts characters rather than code units, so that no surrogate pair is split.
  return Array.from(name.slice(0, 2 * maxNameLength))
    .slice(0, maxNameLength)
    .join('');
}
