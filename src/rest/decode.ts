import type { Operation } from '../operations/define.ts';
import { toJsonSchema } from '../operations/json-schema.ts';

/** Stands for a path parameter that is not a number; ids end at 2^53 - 1, so no record has it. */
const unknownId = 2 ** 53;

type Decode = (
  pathText: string | undefined,
  query: Readonly<Record<string, string | string[] | undefined>>,
) => Record<string, unknown>;

/**
 * Turns the text of a request into JSON values for an operation's schema. Decimal digits become numbers
 * where the schema has a number; other text stays as it is, and the schema refuses it. Unknown
 * parameters are dropped.
 */
export function createDecoder(operation: Operation): Decode {
  const { properties } = toJsonSchema(operation.input, 'input');
  const inPath = operation.pathParameter?.input;
  const fields = Object.entries(properties ?? {})
    .filter(([name]) => name !== inPath)
    .map(([name, schema]) => ({ name, isNumber: schema.type === 'integer' }));

  return (pathText, query) => {
    const input: Record<string, unknown> = {};
    if (inPath !== undefined) {
      const id = toNumber(pathText ?? '');
      input[inPath] = typeof id === 'number' && id > 0 ? id : unknownId;
    }
    for (const { name, isNumber } of fields) {
      const text = query[name];
      if (text === undefined) continue;
      // A repeated parameter arrives as an array, which every schema refuses.
      input[name] = isNumber && typeof text === 'string' ? toNumber(text) : text;
    }
    return input;
  };
}

function toNumber(text: string): number | string {
  return /^\d+$/.test(text) ? Number(text) : text;
}
