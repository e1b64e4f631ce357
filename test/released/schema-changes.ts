import { type JsonSchema, nullable } from '../../src/operations/json-schema.ts';

/** 'sent' must take everything that it took before; 'answered' must keep every promise that it made. */
export type Side = 'sent' | 'answered';

/** What may change freely. */
const annotations = new Set(['description', 'title', 'example', 'examples', 'deprecated', 'id']);
const lower = (value: unknown) => (value === undefined ? -Infinity : Number(value));
const upper = (value: unknown) => (value === undefined ? Infinity : Number(value));
const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : [value]);
const isMissing = (from: unknown, to: unknown) =>
  list(from).some((value) => !list(to).includes(value));

/** Whether a keyword allows less than before, or more. */
interface Comparison {
  tightened(before: unknown, after: unknown): boolean;
  loosened(before: unknown, after: unknown): boolean;
}

const comparisons: Readonly<Record<string, Comparison>> = {
  type: {
    tightened: (before, after) => after !== undefined && isMissing(before, after),
    loosened: (before, after) => before !== undefined && isMissing(after, before),
  },
  enum: {
    tightened: (before, after) => after !== undefined && isMissing(before, after),
    // New words are announced for every field that has words, but a word may not disappear.
    loosened: (before, after) =>
      before !== undefined && after !== undefined && isMissing(before, after),
  },
  minimum: {
    tightened: (before, after) => lower(after) > lower(before),
    loosened: (before, after) => lower(after) < lower(before),
  },
  maximum: {
    tightened: (before, after) => upper(after) < upper(before),
    loosened: (before, after) => upper(after) > upper(before),
  },
};

/** Of any other keyword only this is known: one more allows less, and a different one less and more. */
const anyOther: Comparison = {
  tightened: (before, after) => after !== undefined && !isSame(before, after),
  loosened: (before, after) => before !== undefined && !isSame(before, after),
};

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

type Schemas = Readonly<Record<string, JsonSchema>>;
type Pair<T> = readonly [before: T, after: T];

/**
 * What a change of a schema breaks for clients, in words.
 * @param components of the two documents, which $refs point to
 */
export function listSchemaChanges(
  schemas: Pair<JsonSchema>,
  components: Pair<Schemas>,
  side: Side,
  path: string,
): string[] {
  const [before, after] = [
    resolve(schemas[0], components[0]),
    resolve(schemas[1], components[1]),
  ] as const;
  const {
    properties: fieldsBefore = {},
    required: requiredBefore = [],
    items: itemsBefore,
  } = before;
  const { properties: fieldsAfter = {}, required: requiredAfter = [], items: itemsAfter } = after;
  const nested = new Set([
    'properties',
    'required',
    ...(itemsBefore && itemsAfter ? ['items'] : []),
  ]);
  const keywords = new Set([...Object.keys(before), ...Object.keys(after)]);
  const [more, less] =
    side === 'sent' ? [requiredAfter, requiredBefore] : [requiredBefore, requiredAfter];
  return [
    ...[...keywords]
      .filter((keyword) => !annotations.has(keyword) && !nested.has(keyword))
      .filter((keyword) => {
        const comparison = comparisons[keyword] ?? anyOther;
        const breaks = side === 'sent' ? comparison.tightened : comparison.loosened;
        return breaks(before[keyword], after[keyword]);
      })
      .map(
        (keyword) =>
          `${path}: ${keyword} was ${describe(before[keyword])} and is ${describe(after[keyword])}`,
      ),
    ...more
      .filter((name) => !less.includes(name) && (side === 'sent' || name in fieldsAfter))
      .map((name) => `${path}.${name} is ${side === 'sent' ? 'required now' : 'optional now'}`),
    ...Object.entries(fieldsBefore).flatMap(([name, field]) => {
      const now = fieldsAfter[name];
      return now === undefined
        ? [`${path}.${name} was removed`]
        : listSchemaChanges([field, now], components, side, `${path}.${name}`);
    }),
    ...(itemsBefore && itemsAfter
      ? listSchemaChanges(
          [itemsBefore as JsonSchema, itemsAfter as JsonSchema],
          components,
          side,
          `${path}[]`,
        )
      : []),
  ];
}

/** A schema without $ref, and with null as a type. */
function resolve(schema: JsonSchema, components: Schemas): JsonSchema {
  const { $ref, anyOf } = schema;
  if (typeof $ref === 'string') {
    return resolve(components[$ref.replace('#/components/schemas/', '')] ?? {}, components);
  }
  const isNullable =
    Array.isArray(anyOf) && anyOf.length === 2 && (anyOf[1] as JsonSchema).type === 'null';
  return isNullable && !('$ref' in (anyOf[0] as JsonSchema))
    ? nullable(anyOf as JsonSchema[])
    : schema;
}

function describe(value: unknown): string {
  return value === undefined ? 'absent' : JSON.stringify(value);
}
