import { z } from 'zod';

/** The subset of JSON Schema (2020-12) that the catalogue's schemas use. */
export interface JsonSchema {
  type?: string;
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

/** Inlines the definitions of a schema, for clients that do not resolve $ref. */
export function inlineDefinitions({ $defs = {}, ...schema }: JsonSchema): JsonSchema {
  const definitions = $defs as Record<string, JsonSchema>;
  const inline = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(inline);
    if (typeof node !== 'object' || node === null) return node;
    if ('$ref' in node) {
      const { $ref, ...siblings } = node;
      const definition = definitions[String($ref).replace('#/$defs/', '')];
      return inline({ ...definition, ...siblings });
    }
    return Object.fromEntries(
      Object.entries(node)
        // Drops a definition's name, but not a property called id, whose value is a schema.
        .filter(([key, value]) => !(key === 'id' && typeof value === 'string'))
        .map(([key, value]) => [key, inline(value)]),
    );
  };
  return inline(schema) as JsonSchema;
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
