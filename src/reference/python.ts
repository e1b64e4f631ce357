import { type Contract, type Schema, listQueries } from './contract.ts';

const columns = 88;

/** The shapes of the contract as Python, for the client. */
export function writePython(contract: Contract): string {
  const choices = listQueries(contract).flatMap(({ name, schema }) => writeChoices(name, schema));
  const shapes = Object.entries(contract.components.schemas).flatMap(([name, schema]) =>
    writeClasses(name, schema),
  );
  const head = [
    '"""What is asked and answered. Written by "npm run generate" from the catalogue of operations."""',
    'from typing import Literal, TypedDict',
    ...choices,
  ];
  return `${[head.join('\n\n'), ...shapes].join('\n\n\n')}\n`;
}

/** The words that a parameter takes. */
function writeChoices(operation: string, { properties = {} }: Schema): string[] {
  return Object.entries(properties).flatMap(([name, { enum: values }]) => {
    if (values === undefined) return [];
    const items = values.map((value) => `    "${value}",\n`).join('');
    return `${capitalise(operation)}${capitalise(name)} = Literal[\n${items}]`;
  });
}

/** A class for an object, after those of the objects in it. */
function writeClasses(name: string, schema: Schema): string[] {
  const inner: string[] = [];
  const fields = Object.entries(schema.properties ?? {}).map(([field, each]) => {
    if (each.properties) inner.push(...writeClasses(name + capitalise(field), each));
    const type = each.properties ? name + capitalise(field) : typeOf(each);
    return `    ${field}: ${type}${docstring(each.description)}`;
  });
  const head = `class ${name}(TypedDict):${docstring(schema.description)}`;
  return [...inner, [head, ...fields].join('\n\n')];
}

function typeOf(schema: Schema): string {
  // Classes may be named before they are defined.
  if (schema.$ref !== undefined) return `"${schema.$ref.replace(/^.*\//, '')}"`;
  // New words may be added, so a type of the known ones would be wrong one day.
  if (schema.enum) return Array.isArray(schema.type) ? 'str | None' : 'str';
  const options = schema.anyOf ?? [];
  if (options.length > 0) return [...new Set(options.map(typeOf))].join(' | ');
  if (Array.isArray(schema.type)) {
    return schema.type.map((type: string) => typeOf({ ...schema, type })).join(' | ');
  }
  if (schema.type === 'array' && schema.items) return `list[${typeOf(schema.items)}]`;
  const types: Readonly<Record<string, string>> = {
    integer: 'int',
    number: 'float',
    string: 'str',
    boolean: 'bool',
    null: 'None',
  };
  const type = types[String(schema.type)];
  if (type === undefined) throw new TypeError(`No Python for ${JSON.stringify(schema)}`);
  return type;
}

function docstring(text: string | undefined): string {
  if (text === undefined) return '';
  const quoted = text.replaceAll('\\', '\\\\').replaceAll('"""', "'''");
  const line = `\n    """${quoted}"""`;
  return line.length - 1 <= columns ? line : `\n    """${wrap(quoted)}\n    """`;
}

/** Breaks a text into indented lines. */
function wrap(text: string): string {
  const lines: string[] = [];
  let current = '';
  for (const word of text.split(' ')) {
    // The first line begins with the quotes.
    const room = columns - 4 - (lines.length === 0 ? 3 : 0);
    if (current !== '' && current.length + 1 + word.length > room) {
      lines.push(current);
      current = word;
    } else {
      current = current === '' ? word : `${current} ${word}`;
    }
  }
  return [...lines, current].join('\n    ');
}

function capitalise(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
