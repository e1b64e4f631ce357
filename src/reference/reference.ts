import { readFileSync } from 'node:fs';
import type { JsonSchema } from '../operations/json-schema.ts';
import type { RestVersion } from '../operations/versions.ts';
import type {
  OpenApiDocument,
  OperationObject,
  ResponseObject,
  ParameterObject,
} from './document.ts';
import { fieldTable, fieldsOf, nameOf } from './fields.ts';
import { introduction, renderTable, toMarkdown } from './introduction.ts';

/**
 * Renders the reference of a version as Markdown.
 * @param start what a reader may read first, in Markdown
 */
export function renderReference(
  document: OpenApiDocument,
  version: RestVersion,
  start = '',
): string {
  const { info, components } = document;
  const serverUrl = document.servers[0].url;
  const paths = Object.entries(document.paths);
  const aliasesOf = (path: string) =>
    paths.flatMap(([alias, { get }]) =>
      'x-alias-of' in get && get['x-alias-of'] === path ? [alias] : [],
    );
  const endpoints = paths.flatMap(([path, { get: operation }]) =>
    'x-alias-of' in operation
      ? []
      : [
          {
            path,
            operation,
            aliases: aliasesOf(path),
            body: bodyOf(operation, components.schemas),
          },
        ],
  );
  // The schemas of whole responses are shown with their endpoints instead.
  const bodies = new Set(endpoints.map(({ body }) => body.name));
  const shapes = Object.entries(components.schemas).filter(([name]) => !bodies.has(name));
  const openapi = `${serverUrl}${version.basePath}/openapi.json`;
  return [
    `# ${info.title}`,
    `${info.summary} Version ${info.version}. For machines: [openapi.json](${openapi}).`,
    start,
    toMarkdown(introduction(serverUrl, version)),
    '## Response headers',
    fieldTable(
      Object.entries(components.headers).map(([name, { schema, description, example }]) => ({
        name,
        schema: { type: schema.type ?? '', description: `${description} Example: \`${example}\`` },
      })),
    ),
    '## Endpoints',
    ...endpoints.map((endpoint) => renderEndpoint(serverUrl, endpoint)),
    '## Shapes',
    ...shapes.flatMap(([name, schema]) => [
      `### ${name}`,
      schema.description ?? '',
      fieldTable(fieldsOf(schema)),
    ]),
  ]
    .filter((part) => part !== '')
    .join('\n\n')
    .concat('\n');
}

interface Endpoint {
  readonly path: string;
  readonly operation: OperationObject;
  /** Other paths of the operation. */
  readonly aliases: readonly string[];
  readonly body: Body;
}

/** The schema of a successful response, and its name in the document. */
interface Body {
  readonly name: string;
  readonly schema: JsonSchema;
}

function bodyOf(
  { responses }: OperationObject,
  schemas: Readonly<Record<string, JsonSchema>>,
): Body {
  const name = nameOf(responses['200']?.content['application/json'].schema ?? {});
  return { name, schema: schemas[name] ?? {} };
}

/** One endpoint: its address, what it does, a request and its answer, then everything about them. */
function renderEndpoint(serverUrl: string, { path, operation, aliases, body }: Endpoint): string {
  const { summary, description, parameters, responses } = operation;
  const { '200': answer, ...refusals } = responses;
  const example = Object.values(answer?.content['application/json'].examples ?? {})[0]?.value;
  return [
    `### ${summary}`,
    `**\`GET ${path}\`**`,
    description,
    ...aliases.map((alias) => `Also at \`${alias}\`, permanently.`),
    renderRequest(serverUrl + path, parameters),
    'Answers, for example:',
    `\`\`\`json\n${JSON.stringify(example, undefined, 2)}\n\`\`\``,
    '#### Parameters',
    parameters.length === 0
      ? 'None.'
      : fieldTable(
          parameters.map(({ name, in: place, required, description: meaning, schema }) => ({
            name,
            schema: { ...schema, description: meaning },
            label: `${place === 'path' ? 'in the path' : required ? 'required' : 'optional'}, `,
          })),
        ),
    `#### Response: ${body.name}`,
    body.schema.description ?? '',
    fieldTable(fieldsOf(body.schema)),
    '#### Errors',
    renderTable({
      head: ['Status', 'When', 'Message'],
      rows: Object.entries(refusals).map(([status, response]) => [
        status,
        response.description,
        messagesIn(response),
      ]),
    }),
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

function messagesIn({ content }: ResponseObject): string {
  return Object.values(content['application/json'].examples)
    .map(({ value }) => `\`${(value as { message: string }).message}\``)
    .join(' or ');
}

const template = readFileSync(new URL('./request.md', import.meta.url), 'utf8').trimEnd();

/** A request with the example values filled in, as code that runs as it stands: a shell, Node.js, Python. */
function renderRequest(address: string, parameters: readonly ParameterObject[]): string {
  return template.replaceAll('{url}', fill(address, parameters));
}

function fill(address: string, parameters: readonly ParameterObject[]): string {
  const given = parameters.filter(({ example }) => example !== undefined);
  const filled = given.reduce(
    (text, { name, example }) => text.replace(`{${name}}`, encodeURIComponent(String(example))),
    address,
  );
  const query = new URLSearchParams(
    given.filter((one) => one.in === 'query').map(({ name, example }) => [name, String(example)]),
  ).toString();
  return query === '' ? filled : `${filled}?${query}`;
}
