import type { Contract, Schema } from './contract.ts';

/** In words that a message can use: "… must be a time or null". */
const kinds: Readonly<Record<string, string>> = {
  integer: 'a whole number',
  number: 'a number',
  string: 'a text',
  boolean: 'a boolean',
};

/** What each operation answers, with which clients compare what they get. New fields may be added to an answer. */
function listShapes({ components, paths }: Contract): Record<string, unknown> {
  const shapeOf = (schema: Schema): unknown => {
    const { $ref, anyOf, items, properties, required = [], type } = schema;
    if ($ref !== undefined) return shapeOf(components.schemas[$ref.replace(/^.*\//, '')] ?? {});
    if (items) return [shapeOf(items)];
    if (properties) {
      return Object.fromEntries(required.map((name) => [name, shapeOf(properties[name] ?? {})]));
    }
    const options = anyOf ?? [type].flat().map((each) => ({ ...schema, type: each ?? '' }));
    const value = options.find((each) => each.type !== 'null');
    const isTime = value?.format === 'date-time';
    const kind = isTime ? 'a time' : kinds[String(value?.type)];
    if (kind === undefined) throw new TypeError(`No shape for ${JSON.stringify(schema)}`);
    return options.length > 1 ? `${kind} or null` : kind;
  };
  const operations = Object.values(paths).filter(({ get }) => !get['x-internal']);
  return Object.fromEntries(
    operations.map(({ get }) => {
      const schema = get.responses['200']?.content?.['application/json']?.schema;
      return [get.operationId, shapeOf(schema ?? {})];
    }),
  );
}

const note = 'Written by "npm run generate" from the catalogue of operations.';

/** The client's own, apart from its extension, by which the build of the package would take it for one of the service. */
const clientModule = './shape';

/** The shapes as a table of the TypeScript client. */
export function writeTypeScriptShapes(contract: Contract): string {
  const table = JSON.stringify(listShapes(contract), undefined, 2);
  return [
    `// ${note}`,
    `import type { Shape } from '${clientModule}.ts';`,
    `export const shapes = ${table} satisfies Record<string, Shape>;\n`,
  ].join('\n\n');
}

/** The shapes as a table of the Python client. */
export function writePythonShapes(contract: Contract): string {
  const table = JSON.stringify(listShapes(contract), undefined, 4);
  return [
    `"""What each operation answers. ${note}"""`,
    'from ._shape import Shape',
    `SHAPES: dict[str, Shape] = ${table}\n`,
  ].join('\n\n');
}
