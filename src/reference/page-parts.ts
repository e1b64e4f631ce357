import { type Html, html } from '../http/html.ts';
import type { Prose } from './introduction.ts';
import type { JsonSchema } from '../operations/json-schema.ts';

/** Renders text in which backticks mark code. */
export function prose(text: Prose): Html {
  // Every second part was between backticks.
  const parts = text.split(/`([^`]*)`/);
  return html`${parts.map((part, index) => (index % 2 ? html`<code>${part}</code>` : html`${part}`))}`;
}

interface Field {
  readonly name: string;
  readonly schema: JsonSchema;
  /** Shown before the type. */
  readonly label?: string;
}

/**
 * Renders a table of fields or parameters: name, type and meaning.
 * @param caption names the table for screen readers
 */
export function fieldTable(caption: string, fields: readonly Field[]): Html {
  return html`<table class="fields" aria-label="${caption}">
    <thead>
      <tr>
        <th scope="col">Name</th>
        <th scope="col">Meaning</th>
      </tr>
    </thead>
    <tbody>
      ${fields.map(fieldRow)}
    </tbody>
  </table>`;
}

function fieldRow({ name, schema, label }: Field): Html {
  return html`<tr>
    <th scope="row"><code>${name}</code><span class="type">${label}${typeOf(schema)}</span></th>
    <td>${prose(meaningOf(schema))}</td>
  </tr>`;
}

/** The fields of an object; nested fields follow their parent, prefixed with its name. */
export function fieldsOf(schema: JsonSchema, prefix = ''): Field[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => [
    { name: prefix + name, schema: field },
    ...fieldsOf(field, `${prefix}${name}.`),
  ]);
}

const referencePrefix = '#/components/schemas/';

/** The anchor of a component schema. */
export function anchorOf(schemaName: string): string {
  return `shape-${schemaName}`;
}

/** The name of the component that a schema refers to. */
export function nameOf(schema: JsonSchema): string {
  return String(schema['$ref']).replace(referencePrefix, '');
}

function typeOf(schema: JsonSchema): Html {
  if (typeof schema['$ref'] === 'string') {
    const name = nameOf(schema);
    return html`<a href="#${anchorOf(name)}">${name}</a>`;
  }
  const choices = choicesOf(schema);
  if (choices.length > 1) {
    return html`${choices.map((choice, index) => html`${index ? ' or ' : ''}${typeOf(choice)}`)}`;
  }
  if (schema.type === 'array')
    return html`array of ${typeOf((schema['items'] ?? {}) as JsonSchema)}`;
  if (schema['format'] === 'date-time') return html`timestamp`;
  const { minimum, maximum } = schema;
  // The maximum of ids is stated once in the introduction.
  if (minimum !== undefined && maximum !== undefined && maximum !== Number.MAX_SAFE_INTEGER) {
    return html`${schema.type}, ${String(minimum)} to ${String(maximum)}`;
  }
  return html`${minimum === 1 ? 'positive ' : ''}${schema.type}`;
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
