import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Schema, StripeDocument } from './document.ts';

export const readPublished = (name: 'document' | 'fixtures'): unknown =>
  JSON.parse(readFileSync(path.join(import.meta.dirname, `${name}.json`), 'utf8'));

export const document = readPublished('document') as StripeDocument;

export type StripeObject = Record<string, unknown>;

export const isObject = (value: unknown): value is StripeObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The schema that a reference names, with what stands beside the reference. */
export function resolve(schema: Schema): Schema {
  if (schema.$ref === undefined) return schema;
  const named = document.components.schemas[schema.$ref.slice('#/components/schemas/'.length)];
  if (!named) throw new Error(`The document has no ${schema.$ref}.`);
  return schema.nullable ? { ...named, nullable: true } : named;
}

/** The resource that a schema describes: `price`, `deleted_price`; none for parts of resources. */
export function resourceOf(schema: Schema): string | undefined {
  const name = schema.$ref?.split('/').at(-1);
  return name !== undefined && resolve(schema).properties?.['object'] ? name : undefined;
}

export const schemaOf = (resource: string): Schema => ({
  $ref: `#/components/schemas/${resource}`,
});

/** What is wrong with a value, each with its place; unknown properties are wrong too. */
export function findFaults(value: unknown, reference: Schema, place: string): string[] {
  const schema = resolve(reference);
  const says = (what: string) => [`${place} ${what}`];
  if (value === null) return schema.nullable ? [] : says('is null');
  if (value === undefined) return says('is undefined');
  if (schema.anyOf) {
    const tries = schema.anyOf.map((each) => findFaults(value, each, place));
    return tries.find((each) => each.length === 0) ?? tries.flat();
  }
  const expansions = schema['x-expansionResources']?.oneOf;
  if (expansions && isObject(value)) return findFaults(value, { anyOf: expansions }, place);
  if (schema['x-leftOut'] !== undefined) return isObject(value) ? [] : says('is no object');
  if (schema.enum && !schema.enum.includes(value as string)) {
    return says(`is ${JSON.stringify(value)}, none of ${schema.enum.join(', ')}`);
  }
  if (schema.format === 'decimal' && !/^-?\d+(\.\d{1,12})?$/.test(String(value))) {
    return says('is no decimal');
  }
  if (schema.type === 'array') {
    if (!Array.isArray(value)) return says('is no array');
    return value.flatMap((each, index) =>
      findFaults(each, schema.items ?? {}, `${place}[${index}]`),
    );
  }
  if (schema.type === 'object') {
    return isObject(value) ? findFaultsWithin(value, schema, place) : says('is no object');
  }
  return schema.type === undefined || typeof value === schema.type
    ? []
    : says(`is no ${schema.type}`);
}

function findFaultsWithin(value: StripeObject, schema: Schema, place: string): string[] {
  const { properties = {}, required = [], additionalProperties } = schema;
  // What has no properties at all is not described.
  if (Object.keys(properties).length === 0 && !additionalProperties) return [];
  return [
    ...required
      .filter((name) => value[name] === undefined)
      .map((name) => `${place}.${name} is missing`),
    ...Object.entries(value).flatMap(([name, each]) => {
      const known = properties[name] ?? additionalProperties;
      return known
        ? findFaults(each, known, `${place}.${name}`)
        : [`${place}.${name} is not in the document`];
    }),
  ];
}

/** A value with what the document requires beside it: nothing, where it may be null, else the least there can be. */
export function fillIn(value: unknown, reference: Schema): unknown {
  const schema = resolve(reference);
  if (value === undefined) return leastOf(schema);
  const { items, properties = {}, required = [], additionalProperties } = schema;
  if (items && Array.isArray(value)) return value.map((each) => fillIn(each, items));
  if (schema['x-expansionResources'] || schema['x-leftOut'] !== undefined || !isObject(value))
    return value;
  const names = new Set([...required, ...Object.keys(value)]);
  return Object.fromEntries(
    [...names].map((name) => [
      name,
      fillIn(value[name], properties[name] ?? additionalProperties ?? {}),
    ]),
  );
}

function leastOf(schema: Schema): unknown {
  if (schema.nullable) return null;
  if (schema.enum) return schema.enum[0];
  if (schema.anyOf) return leastOf(resolve(schema.anyOf[0] ?? {}));
  if (schema.properties?.['has_more'])
    return { object: 'list', data: [], has_more: false, url: '/v1/' };
  const least = { array: [], boolean: false, number: 0, string: '', object: undefined } as const;
  return schema.type === 'object' ? fillIn({}, schema) : least[schema.type ?? 'object'];
}
