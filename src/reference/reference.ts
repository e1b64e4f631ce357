import type { JsonSchema } from '../operations/json-schema.ts';
import type { Operation } from '../operations/define.ts';
import type { RestVersion } from '../operations/versions.ts';
import type {
  OpenApiDocument,
  OperationObject,
  ResponseObject,
  ParameterObject,
} from './document.ts';
import { fieldTable, fieldsOf, nameOf } from './fields.ts';
import { requestIn } from './languages.ts';
import { introduction, renderTable, toMarkdown } from './introduction.ts';

/** The name of an endpoint's page, and its anchor where the reference is one text. */
export function endpointName({ title }: Pick<Operation, 'title'>): string {
  return title.toLowerCase().replace(/[^a-z]+/g, '-');
}

/**
 * Renders what holds for all endpoints of a version as Markdown.
 * @param linkTo the address of an endpoint's page, by its name
 */
export function renderOverview(
  document: OpenApiDocument,
  version: RestVersion,
  linkTo: (name: string) => string,
): string {
  const table = renderTable({
    head: ['Endpoint', 'Request', 'Scope'],
    rows: version.operations.map((operation) => [
      `[${operation.title}](${linkTo(endpointName(operation))})`,
      `\`GET ${version.basePath}${operation.path}\``,
      `\`${operation.scope}\``,
    ]),
  });
  return join(renderGeneral(document, version, join(['## Endpoints', table])));
}

/** Renders an endpoint and all shapes that it answers with as Markdown. @param path as the document has it */
export function renderEndpointPage(document: OpenApiDocument, path: string): string {
  const { schemas } = document.components;
  const endpoint = endpointsOf(document).find((each) => each.path === path) as Endpoint;
  const shapes = [...shapesOf(endpoint.body.schema, schemas)];
  return join([
    renderEndpoint(document.servers[0].url, endpoint, 1),
    shapes.length > 0 && '## Shapes',
    ...shapes.map((name) => renderShape(name, schemas[name] ?? {})),
  ]);
}

/** Renders the reference of a version as one text of Markdown. */
export function renderReference(document: OpenApiDocument, version: RestVersion): string {
  const { schemas } = document.components;
  const endpoints = endpointsOf(document);
  // The schemas of whole responses are shown with their endpoints instead.
  const bodies = new Set(endpoints.map(({ body }) => body.name));
  const shapes = Object.entries(schemas).filter(([name]) => !bodies.has(name));
  return join([
    ...renderGeneral(document, version),
    '## Endpoints',
    ...endpoints.map((endpoint) => renderEndpoint(document.servers[0].url, endpoint, 3)),
    '## Shapes',
    ...shapes.map(([name, schema]) => renderShape(name, schema)),
  ]);
}

/** Blocks of Markdown as one text. */
function join(blocks: readonly (string | false)[]): string {
  return blocks.filter((block) => block !== '' && block !== false).join('\n\n');
}

/** What holds for all endpoints. @param first what stands before it */
function renderGeneral(document: OpenApiDocument, version: RestVersion, first = ''): string[] {
  const { info, components } = document;
  const serverUrl = document.servers[0].url;
  const openapi = `${serverUrl}${version.basePath}/openapi.json`;
  return [
    `# ${info.title}`,
    `${info.summary} Version ${info.version}. For machines: [openapi.json](${openapi}).`,
    first,
    toMarkdown(introduction(serverUrl, version)),
    '## Response headers',
    fieldTable(
      Object.entries(components.headers).map(([name, { schema, description, example }]) => ({
        name,
        schema: { type: schema.type ?? '', description: `${description} Example: \`${example}\`` },
      })),
    ),
  ];
}

function renderShape(name: string, schema: JsonSchema): string {
  return join([`### ${name}`, schema.description ?? '', fieldTable(fieldsOf(schema))]);
}

/** The names of the schemas that a schema refers to, directly or through others. */
function shapesOf(schema: JsonSchema, schemas: OpenApiDocument['components']['schemas']) {
  const names = new Set<string>();
  const visit = (each: JsonSchema) => {
    for (const [$ref] of JSON.stringify(each).matchAll(/#\/components\/schemas\/\w+/g)) {
      const name = nameOf({ $ref });
      if (names.has(name)) continue;
      names.add(name);
      visit(schemas[name] ?? {});
    }
  };
  visit(schema);
  return names;
}

function endpointsOf({ paths, components }: OpenApiDocument): Endpoint[] {
  const all = Object.entries(paths);
  return all.flatMap(([path, { get: operation }]) => {
    if ('x-alias-of' in operation) return [];
    const aliases = all.flatMap(([alias, { get }]) =>
      'x-alias-of' in get && get['x-alias-of'] === path ? [alias] : [],
    );
    return [{ path, operation, aliases, body: bodyOf(operation, components.schemas) }];
  });
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
function renderEndpoint(
  serverUrl: string,
  { path, operation, aliases, body }: Endpoint,
  level: 1 | 3,
): string {
  const [heading, subheading] = ['#'.repeat(level), '#'.repeat(level + 1)];
  const { summary, description, parameters, responses } = operation;
  const { '200': answer, ...refusals } = responses;
  const example = Object.values(answer?.content['application/json'].examples ?? {})[0]?.value;
  return join([
    `${heading} ${summary}`,
    `**\`GET ${path}\`**`,
    description,
    ...aliases.map((alias) => `Also at \`${alias}\`, permanently.`),
    requestIn(fill(serverUrl + path, parameters)),
    'Answers, for example:',
    `\`\`\`json\n${JSON.stringify(example, undefined, 2)}\n\`\`\``,
    `${subheading} Parameters`,
    parameters.length === 0
      ? 'None.'
      : fieldTable(
          parameters.map(({ name, in: place, required, description: meaning, schema }) => ({
            name,
            schema: { ...schema, description: meaning },
            label: `${place === 'path' ? 'in the path' : required ? 'required' : 'optional'}, `,
          })),
        ),
    `${subheading} Response: ${body.name}`,
    body.schema.description ?? '',
    fieldTable(fieldsOf(body.schema)),
    `${subheading} Errors`,
    renderTable({
      head: ['Status', 'When', 'Message'],
      rows: Object.entries(refusals).map(([status, response]) => [
        status,
        response.description,
        messagesIn(response),
      ]),
    }),
  ]);
}

function messagesIn({ content }: ResponseObject): string {
  return Object.values(content['application/json'].examples)
    .map(({ value }) => `\`${(value as { message: string }).message}\``)
    .join(' or ');
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
