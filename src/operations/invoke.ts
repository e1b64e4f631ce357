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
  /** Of the request, where traces are made. */
  readonly span?: RequestSpan | undefined;
}

/**
 * Runs an operation for a caller whom the gate let in: scope, then input, then the work.
 * @param input in JSON terms, as yet unchecked
 * @returns the payload as JSON text, the same for every face
 * @throws ServiceError scopeRequired, invalid or notFound
 */
export async function invoke(
  operation: Operation,
  caller: OperationCaller,
  input: unknown,
  { store, clock, span }: InvokeParts,
): Promise<string> {
  if (!caller.scopes.includes(operation.scope)) {
    throw refusal('scopeRequired', operation.scope);
  }
  const parsed = operation.input.safeParse(input);
  if (!parsed.success) throw refusal('invalid', messageOf(parsed.error, operation));
  const now = clock.now();
  const run = () =>
    store.readRecent((from) => operation.run({ caller, store: from, now }, parsed.data));
  const payload = await (span ? span.during(operation.tool, run) : run());
  return payload instanceof JsonText ? payload.text : JSON.stringify(payload);
}

/** All that is wrong with the input, in the words of the schema. */
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

/** The first 100 characters of a name that a caller sent, to repeat it in a message. */
export function clipName(name: string): string {
  // A character is one or two code units; counting characters keeps pairs together.
  return Array.from(name.slice(0, 2 * maxNameLength))
    .slice(0, maxNameLength)
    .join('');
}
