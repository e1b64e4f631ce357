import { type Contract, type Schema, listQueries } from './contract.ts';

/** What is sent has these values only; answers may have others in the future. */
type Direction = 'sent' | 'received';

/** The shapes of the contract as TypeScript, for the client. */
export function writeTypeScript(contract: Contract): string {
  const shapes = Object.entries(contract.components.schemas).map(([name, schema]) =>
    writeInterface(name, schema, 'received'),
  );
  const queries = listQueries(contract).map(({ name, schema }) =>
    writeInterface(`${capitalise(name)}Parameters`, schema, 'sent'),
  );
  return `${['// Written by "npm run generate" from the catalogue of operations.', ...shapes, ...queries].join('\n\n')}\n`;
}

function writeInterface(name: string, schema: Schema, direction: Direction): string {
  return `${comment(schema.description, '')}export interface ${name} ${fieldsOf(schema, direction)}`;
}

function fieldsOf({ properties = {}, required = [] }: Schema, direction: Direction, indent = '') {
  const inner = `${indent}  `;
  const fields = Object.entries(properties).map(([field, each]) => {
    const mark = required.includes(field) ? '' : '?';
    const type = typeOf(each, direction, inner);
    return `${comment(each.description, inner)}${inner}readonly ${field}${mark}: ${type};`;
  });
  return `{\n${fields.join('\n')}\n${indent}}`;
}

function typeOf(schema: Schema, direction: Direction, indent = ''): string {
  if (schema.$ref !== undefined) return schema.$ref.replace(/^.*\//, '');
  if (schema.enum) {
    const values = schema.enum.map((value) => `'${value}'`).join(' | ');
    // Keeps the known values in an editor's suggestions.
    return direction === 'sent' ? values : `${values} | (string & {})`;
  }
  if (schema.anyOf) return schema.anyOf.map((each) => typeOf(each, direction, indent)).join(' | ');
  if (Array.isArray(schema.type)) {
    return schema.type
      .map((type: string) => typeOf({ ...schema, type }, direction, indent))
      .join(' | ');
  }
  if (schema.type === 'array' && schema.items) {
    const item = typeOf(schema.items, direction, indent);
    return item.includes(' ') ? `readonly (${item})[]` : `readonly ${item}[]`;
  }
  if (schema.type === 'object') return fieldsOf(schema, direction, indent);
  const types: Readonly<Record<string, string>> = {
    integer: 'number',
    number: 'number',
    string: 'string',
    boolean: 'boolean',
    null: 'null',
  };
  const type = types[String(schema.type)];
  if (type === undefined) throw new TypeError(`No TypeScript for ${JSON.stringify(schema)}`);
  return type;
}

function capitalise(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function comment(text: string | undefined, indent: string): string {
  return text === undefined ? '' : `${indent}/** ${text.replaceAll('*/', '* /')} */\n`;
}
