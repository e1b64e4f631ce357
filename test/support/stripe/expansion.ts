import type { Schema } from './document.ts';
import { StripeRefusal } from './refusals.ts';
import { type StripeObject, isObject, resolve, resourceOf } from './schema.ts';

/** Finds the object of an id, whatever kind it may be. */
export type Find = (kinds: readonly string[], id: string) => StripeObject;

const separator = '.';
/** Stands for any name in what files have expanded; requests name each. */
const any = '*';
const deepest = 4;

/** Refuses what cannot be expanded in an answer. */
export function checkExpansions(answer: Schema, expand: readonly string[]): void {
  for (const each of expand) {
    const names = each.split(separator);
    if (names.length > deepest) {
      throw new StripeRefusal(
        400,
        `You cannot expand more than ${deepest} levels of a property. Property: ${each}`,
        { code: 'property_expansion_max_depth', param: 'expand' },
      );
    }
    if (!leads(answer, names)) {
      const isList = resolve(answer).properties?.['has_more'] !== undefined;
      const hint =
        isList && leads(answer, ['data', ...names])
          ? ` You may want to try expanding 'data.${each}' instead.`
          : '';
      throw new StripeRefusal(400, `This property cannot be expanded (${each}).${hint}`, {
        param: 'expand',
      });
    }
  }
}

/** Whether names lead to something that can be expanded. */
function leads(reference: Schema, [name, ...others]: readonly string[]): boolean {
  const schema = resolve(reference);
  if (schema.items) return leads(schema.items, [name ?? '', ...others]);
  if (schema['x-expansionResources']) {
    return schema['x-expansionResources'].oneOf.some((each) =>
      leads(each, [name ?? '', ...others]),
    );
  }
  if (schema.additionalProperties) return leads(schema.additionalProperties, others);
  const next = schema.properties?.[name ?? ''];
  if (!next) return false;
  return others.length === 0
    ? isExpandable(next) || schema['x-includable']?.includes(name ?? '') === true
    : leads(next, others);
}

function isExpandable(schema: Schema): boolean {
  if (schema.items) return isExpandable(schema.items);
  return schema['x-expansionResources'] !== undefined || resolve(schema).type === 'object';
}

/**
 * An object of the world as the API shows it. In the world others are named by their ids; where the
 * document has an object they are put in, and where it lets callers choose, if they are expanded.
 */
export function show(
  value: unknown,
  reference: Schema,
  expand: readonly string[],
  find: Find,
): unknown {
  const schema = resolve(reference);
  if (value === null || value === undefined || schema['x-leftOut'] !== undefined) return value;
  const expansions = schema['x-expansionResources']?.oneOf;
  if (expansions) {
    return expand.length === 0 ? value : showExpanded(String(value), expansions, expand, find);
  }
  if (schema.anyOf) {
    const fitting = schema.anyOf.find((each) => resolve(each).type === 'object') ?? {};
    return isObject(value) ? show(value, fitting, expand, find) : value;
  }
  const { items } = schema;
  if (items) return (value as unknown[]).map((each) => show(each, items, expand, find));
  const resource = resourceOf(reference);
  if (resource !== undefined && typeof value === 'string') {
    return show(find([resource], value), reference, expand, find);
  }
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, each]) => {
      const further = below(expand, name);
      if (schema['x-includable']?.includes(name) && further.length === 0) return [];
      const known = schema.properties?.[name] ?? schema.additionalProperties;
      return [[name, known ? show(each, known, further, find) : each]];
    }),
  );
}

/** What is expanded below a property; the empty path is the property itself. */
const below = (expand: readonly string[], name: string): readonly string[] =>
  expand.flatMap((each) => {
    const [first, ...others] = each.split(separator);
    return first === name || first === any ? [others.join(separator)] : [];
  });

function showExpanded(
  id: string,
  expansions: readonly Schema[],
  expand: readonly string[],
  find: Find,
): unknown {
  const kinds = expansions.flatMap((each) => resourceOf(each) ?? []);
  if (kinds.length === 0) {
    throw new Error(`The document here does not have what ${id} is; add it to reduce.ts.`);
  }
  const found = find(kinds, id);
  const kind = `${found['deleted'] === true ? 'deleted_' : ''}${found['object']}`;
  const schema = expansions.find((each) => resourceOf(each) === kind);
  if (!schema) throw new Error(`${id} is a ${kind}, which cannot stand here.`);
  return show(found, schema, expand, find);
}
