import { z } from 'zod';

/** The part of JSON Schema (2020-12) that the catalogue's schemas turn into. */
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
 * @param side 'input': what may be sent (defaults are optional); 'output': what is answered
 */
export function toJsonSchema(schema: z.ZodType, side: 'input' | 'output'): JsonSchema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: side, reused: 'inline' });
  return prune(rest) as JsonSchema;
}

/** A schema with its definitions put in where they are referred to, for readers that follow no $ref. */
export function inlineDefinitions({ $defs = {}, ...schema }: JsonSchema): JsonSchema {
  const definitions = $defs as Record<string, JsonSchema>;
  const inline = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(inline);
    if (typeof node !== 'object' || node === null) return node;
    if ('$ref' in node) {
      const { $ref, ...besides } = node;
      const definition = definitions[String($ref).replace('#/$defs/', '')];
      return inline({ ...definition, ...besides });
    }
    return Object.fromEntries(
      Object.entries(node)
        // The name of a definition; a property that is called id has a schema for its value.
        .filter(([key, value]) => !(key === 'id' && typeof value === 'string'))
        .map(([key, value]) => [key, inline(value)]),
    );
  };
  return inline(schema) as JsonSchema;
}

/** Takes out what says nothing new: the largest exact integers as bounds, a date-time spelt as pattern. */
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
