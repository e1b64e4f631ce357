import type { JsonSchema } from '../operations/json-schema.ts';
import { type Prose, renderTable } from './introduction.ts';

interface Field {
  readonly name: string;
  readonly schema: JsonSchema;
  /** Shown before the type. */
  readonly label?: string;
}

/** A table of fields or parameters: name, type and meaning. */
export function fieldTable(fields: readonly Field[]): string {
  return renderTable({
    head: ['Name', 'Type', 'Meaning'],
    rows: fields.map(({ name, schema, label = '' }) => [
      `\`${name}\``,
      label + typeOf(schema),
      meaningOf(schema),
    ]),
  });
}

/** The fields of an object; nested fields follow their parent, prefixed with its name. */
export function fieldsOf(schema: JsonSchema, prefix = ''): Field[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => [
    { name: prefix + name, schema: field },
    ...fieldsOf(field, `${prefix}${name}.`),
  ]);
}

/** The name of the component that a schema refers to. */
export function nameOf(schema: JsonSchema): string {
  return String(schema['$ref']).replace('#/components/schemas/', '');
}

function typeOf(schema: JsonSchema): Prose {
  if (typeof schema['$ref'] === 'string') {
    const name = nameOf(schema);
    return `[${name}](#${name.toLowerCase()})`;
  }
  const choices = choicesOf(schema);
  if (choices.length > 1) return choices.map(typeOf).join(' or ');
  if (schema.type === 'array') return `array of ${typeOf((schema['items'] ?? {}) as JsonSchema)}`;
  if (schema['format'] === 'date-time') return 'timestamp';
  const { minimum, maximum } = schema;
  // The maximum of ids is stated once in the introduction.
  if (minimum !== undefined && maximum !== undefined && maximum !== Number.MAX_SAFE_INTEGER) {
    return `${schema.type}, ${minimum} to ${maximum}`;
  }
  return `${minimum === 1 ? 'positive ' : ''}${schema.type}`;
}

/** The alternatives of a schema: `anyOf`, or a list of types. */
function choicesOf(schema: JsonSchema): JsonSchema[] {
  if (Array.isArray(schema['anyOf'])) return schema['anyOf'] as JsonSchema[];
  const types: unknown = schema.type;
  return Array.isArray(types) ? types.map((type) => ({ ...schema, type: String(type) })) : [schema];
}

function meaningOf(schema: JsonSchema): Prose {
  const values = choicesOf(schema).flatMap((choice) => (choice['enum'] as unknown[]) ?? []);
  return [
    schema.description,
    values.length > 0 ? `One of ${values.map((value) => `\`${value}\``).join(', ')}.` : undefined,
    'const' in schema ? `Always \`${schema['const']}\`.` : undefined,
    'default' in schema ? `Default \`${schema['default']}\`.` : undefined,
  ]
    .filter((part) => part !== undefined)
    .join(' ');
}
