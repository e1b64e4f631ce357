import type { Caller } from '../access/gate.ts';
import { ServiceError } from '../errors.ts';
import type { Operation } from '../operations/define.ts';
import { operations } from '../operations/index.ts';
import { type InvokeParts, invoke } from '../operations/invoke.ts';
import { inlineDefinitions, toJsonSchema } from '../operations/json-schema.ts';
import type { JsonObject } from './message.ts';

const byName = new Map(operations.map((operation) => [operation.tool, operation]));

/** What tools/list says of each operation, as JSON text, made once. */
const listings = new Map(
  operations.map((operation) => [operation.tool, JSON.stringify(describeTool(operation))]),
);

function describeTool(operation: Operation): Record<string, unknown> {
  return {
    name: operation.tool,
    title: operation.title,
    description: operation.toolDescription,
    inputSchema: { required: [], ...toJsonSchema(operation.input, 'input') },
    outputSchema: inlineDefinitions(toJsonSchema(operation.output, 'input')),
    annotations: {
      title: operation.title,
      readOnlyHint: true,
      destructiveHint: false,
      idempotentHint: true,
      openWorldHint: false,
    },
  };
}

/** The tools that a caller may use, in the catalogue's order, as the text of a JSON array. */
export function listTools(caller: Caller): string {
  const permitted = operations.filter(({ scope }) => caller.scopes.includes(scope));
  return `[${permitted.map(({ tool }) => listings.get(tool)).join(',')}]`;
}

/** A tool that the caller may use; one that is not permitted is as unknown as one that is not there. */
export function findTool(name: string, caller: Caller): Operation | undefined {
  const operation = byName.get(name);
  return operation && caller.scopes.includes(operation.scope) ? operation : undefined;
}

export function isToolName(name: unknown): name is string {
  return typeof name === 'string' && byName.has(name);
}

/**
 * Runs a tool.
 * @returns the text of the members of its result: the payload twice, or what is wrong with the call
 */
export async function callTool(
  operation: Operation,
  caller: Caller,
  input: JsonObject,
  parts: InvokeParts,
): Promise<string> {
  try {
    // The very text that REST answers, and quoted once more as text.
    const payload = await invoke(operation, caller, withoutNulls(input, operation), parts);
    return `${textContent(payload)},"structuredContent":${payload}`;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return `${textContent(error.message)},"isError":true`;
  }
}

/** Without optional arguments that are null: clients write null for what is left out. */
function withoutNulls(input: JsonObject, { input: { shape } }: Operation): JsonObject {
  const isLeftOut = ([name, value]: [string, unknown]) =>
    value === null && Object.hasOwn(shape, name) && shape[name]?.safeParse(undefined).success;
  return Object.fromEntries(Object.entries(input).filter((entry) => !isLeftOut(entry)));
}

function textContent(text: string): string {
  return `"content":[{"type":"text","text":${JSON.stringify(text)}}]`;
}
