import type { Schema } from './document.ts';
import { StripeRefusal } from './refusals.ts';
import { isObject, resolve } from './schema.ts';

export type Parameters = Readonly<Record<string, unknown>>;

/** The parameters of a query, as the document describes them; others are refused. */
export function readParameters(query: URLSearchParams, schema: Schema): Parameters {
  const raw: Record<string, unknown> = {};
  for (const [name, value] of query) put(raw, name, value);
  return readObject(raw, schema, '');
}

/** Puts the value of `created[gte]`, `expand[]` or `expand[0]` where it belongs. */
function put(raw: Record<string, unknown>, name: string, value: string): void {
  const [first = '', ...others] = name.split('[').map((each) => each.replace(/\]$/, ''));
  let target = raw;
  let key = first;
  for (const other of others) {
    const next = (target[key] ??= {}) as Record<string, unknown>;
    if (!isObject(next)) throw new StripeRefusal(400, `Invalid object`, { param: first });
    target = next;
    key = other === '' ? String(Object.keys(next).length) : other;
  }
  target[key] = value;
}

function readObject(
  raw: Readonly<Record<string, unknown>>,
  schema: Schema,
  place: string,
): Parameters {
  const { properties = {}, required = [] } = resolve(schema);
  const named = (name: string) => (place === '' ? name : `${place}[${name}]`);
  for (const name of required) {
    if (raw[name] === undefined) {
      throw new StripeRefusal(400, `Missing required param: ${named(name)}.`, {
        code: 'parameter_missing',
        param: named(name),
      });
    }
  }
  return Object.fromEntries(
    Object.entries(raw).map(([name, value]) => {
      const known = properties[name];
      if (!known) {
        throw new StripeRefusal(400, `Received unknown parameter: ${named(name)}`, {
          code: 'parameter_unknown',
          param: named(name),
        });
      }
      return [name, readValue(value, known, named(name))];
    }),
  );
}

function readValue(raw: unknown, reference: Schema, place: string): unknown {
  const schema = resolve(reference);
  const refuse = (message: string, code?: string) => {
    throw new StripeRefusal(400, message, { param: place, ...(code !== undefined && { code }) });
  };
  if (schema.anyOf) {
    const fitting = schema.anyOf.find(
      (each) => (resolve(each).type === 'object') === isObject(raw),
    );
    return fitting ? readValue(raw, fitting, place) : refuse(`Invalid value for ${place}`);
  }
  if (schema.type === 'array') {
    if (!isObject(raw)) return refuse(`Invalid array`);
    return Object.values(raw).map((each, index) =>
      readValue(each, schema.items ?? {}, `${place}[${index}]`),
    );
  }
  if (schema.type === 'object') {
    return isObject(raw) ? readObject(raw, schema, place) : refuse(`Invalid object`);
  }
  if (typeof raw !== 'string') return refuse(`Invalid string: ${JSON.stringify(raw)}`);
  if (schema.enum && !schema.enum.includes(raw)) {
    const last = schema.enum.at(-1);
    return refuse(
      `Invalid ${place}: must be one of ${schema.enum.slice(0, -1).join(', ')}, or ${last}`,
    );
  }
  if (schema.type === 'number') {
    return /^-?\d+$/.test(raw)
      ? Number(raw)
      : refuse(`Invalid integer: ${raw}`, 'parameter_invalid_integer');
  }
  if (schema.type === 'boolean') {
    return raw === 'true' || raw === 'false' ? raw === 'true' : refuse(`Invalid boolean: ${raw}`);
  }
  return raw === ''
    ? refuse(
        `You passed an empty string for '${place}'. We assume empty values are an attempt to unset a parameter; however '${place}' cannot be unset. You should remove '${place}' from your request or supply a non-empty value.`,
        'parameter_invalid_empty',
      )
    : raw;
}
