import type { Caller } from '../access/gate.ts';
import { ServiceError } from '../errors.ts';
import type { Operation } from '../operations/define.ts';
import { operations } from '../operations/index.ts';
import { type InvokeParts, invoke } from '../operations/invoke.ts';
import { toCompactJsonSchema, toJsonSchema } from '../operations/json-schema.ts';
import type { JsonObject } from '../json.ts';

const byName = new Map(operations.map((operation) => [operation.tool, operation]));

/** The tools/list entry of each operation as JSON text, built once. */
const listings = new Map(
  operations.map((operation) => [operation.tool, JSON.stringify(describeTool(operation))]),
);

function describeTool(operation: Operation): Record<string, unknown> {
  return {
    name: operation.tool,
    title: operation.title,
    description: operation.toolDescription,
    inputSchema: { required: [], ...toJsonSchema(operation.input, 'input') },
    outputSchema: toCompactJsonSchema(operation.output),
    annotations: {
      title: operation.title,
      readOnlyHint: true,
      destructiveHint: false,
      idempotentHint: true,
      openWorldHint: false,
    },
  };
}

/** The tools that the caller may use, in catalogue order, as a JSON array. */
export function listTools(caller: Caller): string {
  const permitted = operations.filter(({ scope }) => caller.scopes.includes(scope));
  return `[${permitted.map(({ tool }) => listings.get(tool)).join(',')}]`;
}

/** Finds a tool that the caller may use; one without permission is reported like an unknown one. */
export function findTool(name: string, caller: Caller): Operation | undefined {
  const operation = byName.get(name);
  return operation && caller.scopes.includes(operation.scope) ? operation : undefined;
}

export function isToolName(name: unknown): name is string {
  return typeof name === 'string' && byName.has(name);
}

/**
 * Calls a tool.
 * @returns its result to the end of the message: the payload twice, or what is wrong with the call
 */
export async function callTool(
  operation: Operation,
  caller: Caller,
  input: JsonObject,
  parts: InvokeParts,
): Promise<{ readonly rest: string | Buffer }> {
  try {
    const payload = await invoke(operation, caller, input, parts);
    return { rest: payload.as(twice) };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return { rest: `${textContent(error.message)},"isError":true}}` };
  }
}

/** The same text as the REST body, once quoted and once as it is. */
const twice = (text: string) => `${textContent(text)},"structuredContent":${text}}}`;

function textContent(text: string): string {
  return `"content":[{"type":"text","text":${JSON.stringify(text)}}]`;
}
