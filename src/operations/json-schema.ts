import { z } from 'zod';

/** The subset of JSON Schema (2020-12) that the catalogue's schemas use. */
export interface JsonSchema {
  type?: string | readonly string[];
  description?: string;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  additionalProperties?: boolean;
  [keyword: string]: unknown;
}

/**
 * The JSON Schema of one side of a zod schema.
 * @param side 'input': for requests (fields with a default are optional); 'output': for responses
 */
export function toJsonSchema(schema: z.ZodType, side: 'input' | 'output'): JsonSchema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: side, reused: 'inline' });
  return prune(rest) as JsonSchema;
}

/**
 * The shape of an answer in few bytes, because models read it with every list of tools: without descriptions,
 * which OpenAPI has, bounds of integers, and $ref, which not all clients resolve.
 */
export function toCompactJsonSchema(schema: z.ZodType): JsonSchema {
  const { $defs = {}, ...root } = toJsonSchema(schema, 'input');
  const definitions = $defs as Record<string, JsonSchema>;
  const compact = (node: JsonSchema): JsonSchema => {
    const { $ref, anyOf, properties, items } = node;
    if ($ref !== undefined) {
      return compact(definitions[String($ref).replace('#/$defs/', '')] ?? {});
    }
    if (anyOf !== undefined) return compact(nullable(anyOf as JsonSchema[]));
    const kept = Object.entries(node).filter(
      ([key]) => !dropped.has(key) && !(key === 'minimum' && node.type === 'integer'),
    );
    return {
      ...Object.fromEntries(kept),
      ...(items !== undefined && { items: compact(items as JsonSchema) }),
      ...(properties && {
        properties: Object.fromEntries(
          Object.entries(properties).map(([name, each]) => [name, compact(each)]),
        ),
      }),
    };
  };
  return compact(root);
}

/** `id` is the name of a definition. */
const dropped = new Set(['description', 'id']);

/** A value or null as one schema with two types. */
export function nullable([value = {}]: readonly JsonSchema[]): JsonSchema {
  const { enum: values } = value;
  return {
    ...value,
    type: [String(value.type), 'null'],
    ...(Array.isArray(values) && { enum: [...values, null] }),
  };
}

/** Removes redundant keywords: bounds at the safe integers, and the pattern of a date-time. */
function prune(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(prune);
  if (typeof node !== 'object' || node === null) return node;
  const isDateTime = 'format' in node && node.format === 'date-time';
  return Object.fromEntries(
    Object.entries(node)
      .filter(([, value]) => value !== Number.MAX_SAFE_INTEGER && value !== Number.MIN_SAFE_INTEGER)
      .filter(([key]) => !(isDateTime && key === 'pattern'))
      .map(([key, value]) => [key, prune(value)]),
  );
}

/** The messages say what to pass instead; both transports send them unchanged. */
const positiveInteger = (name: string) =>
  z
    .number({ error: `${name} must be a positive integer.` })
    .refine((value) => Number.isInteger(value) && value > 0, {
      error: `${name} must be a positive integer.`,
    })
    // A refinement does not appear in the generated JSON Schema, so this states it.
    .meta({ type: 'integer', minimum: 1 });

export const customerId = positiveInteger('customerId').describe(
  "The shop's internal numeric customer id, not an e-mail address.",
);

export const subscriptionId = positiveInteger('subscriptionId').describe(
  'The numeric subscription id.',
);

const limitError = 'limit must be an integer from 1 to 100.';

export const limit = z
  .int({ error: limitError })
  .min(1, { error: limitError })
  .max(100, { error: limitError })
  .default(50)
  .describe('How many rows a page holds at most, 1 to 100.');

export const cursorError =
  'cursor is not valid here. Take it from nextCursor of the previous page of the same listing with the same filter.';

export const cursor = z
  .string({ error: cursorError })
  .describe(
    'Where the page begins: nextCursor of the previous page, unchanged. Leave it out for the first page.',
  );

/** An enum whose error lists its values. */
export function oneOf<const Values extends readonly [string, ...string[]]>(
  name: string,
  values: Values,
) {
  return z.enum(values, { error: `${name} must be one of ${values.join(', ')}.` });
}
