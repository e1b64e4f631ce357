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
