import type { Operation } from '../operations/define.ts';
import { toJsonSchema } from '../operations/json-schema.ts';

/** Ids end at 2^53 - 1, so this names nothing: what a path says that is not a number. */
const idOfNobody = 2 ** 53;

type Decode = (
  pathText: string | undefined,
  query: Readonly<Record<string, string | string[] | undefined>>,
) => Record<string, unknown>;

/**
 * Turns the text of a request into JSON terms for an operation's schema: decimal digits become
 * numbers where the schema wants a number; all else stays text, for the schema to refuse. Parameters
 * that the operation does not have are left out.
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
      input[inPath] = typeof id === 'number' && id > 0 ? id : idOfNobody;
    }
    for (const { name, isNumber } of fields) {
      const text = query[name];
      if (text === undefined) continue;
      // A parameter given twice arrives as an array, which no schema takes.
      input[name] = isNumber && typeof text === 'string' ? toNumber(text) : text;
    }
    return input;
  };
}

function toNumber(text: string): number | string {
  // An id of hundreds of digits is still a positive integer, not infinity.
  return /^\d+$/.test(text) ? Math.min(Number(text), Number.MAX_VALUE) : text;
}
