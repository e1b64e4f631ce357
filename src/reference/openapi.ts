import { scopeDescriptions } from '../access/scopes.ts';
import { tiers } from '../access/tiers.ts';
import type { Operation } from '../operations/define.ts';
import type { RestVersion } from '../operations/versions.ts';
import type {
  AliasObject,
  HeaderObject,
  OpenApiDocument,
  OperationObject,
  ParameterObject,
  ResponseObject,
} from './document.ts';
import { introduction, toMarkdown } from './introduction.ts';
import { type JsonSchema, toJsonSchema } from '../operations/json-schema.ts';
import { refusals } from '../refusals.ts';
import { messagesOf, refusalsOf } from './documented-refusals.ts';
import { type Scope, scopes } from '../vocabulary.ts';

const scheme = 'apiKey';

interface OpenApiOptions {
  /** The public URL of the service, without a trailing slash. */
  readonly serverUrl: string;
  readonly version: RestVersion;
}

/** Builds the OpenAPI document of a version of the REST API from its operations. */
export function buildOpenApi({ serverUrl, version }: OpenApiOptions): OpenApiDocument {
  const { name, basePath, operations, aliases = {} } = version;
  return {
    openapi: '3.1.1',
    info: {
      title: 'Retention Data API',
      version: `${name.slice(1)}.0.0`,
      summary: "Read a shop's subscription retention data.",
      description: toMarkdown(introduction(serverUrl, version)),
      contact: { name: 'Documentation', url: `${serverUrl}/docs` },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: serverUrl }],
    security: [{ [scheme]: [] }],
    tags: scopes.map((scope) => ({
      name: tagOf(scope),
      description: `${capitalised(scopeDescriptions[scope])}.`,
    })),
    paths: Object.fromEntries(
      operations.flatMap((operation) => {
        const path = basePath + operation.path;
        const described = describe(operation);
        const alias = aliases[operation.path];
        const entry = [path, { get: described }] as const;
        return alias === undefined
          ? [entry]
          : [entry, [alias, { get: asAlias(described, path) }] as const];
      }),
    ),
    components: {
      schemas: {
        ...Object.assign({}, ...operations.map(({ output }) => publish(output).components)),
        ErrorEnvelope: errorEnvelope,
      },
      headers,
      securitySchemes: {
        [scheme]: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'rtn_ and 43 more characters',
          description: "A key that the shop's owner created.",
        },
      },
    },
  };
}

function describe(operation: Operation): OperationObject {
  return {
    operationId: camelCase(operation.tool),
    tags: [tagOf(operation.scope)],
    summary: operation.title,
    description: `${operation.description}\n\nNeeds the scope \`${operation.scope}\`.`,
    parameters: parametersOf(operation),
    responses: { '200': success(operation), ...refusalResponses(operation) },
    // Not in `security`, where linters take scopes of a bearer key for mistakes.
    'x-required-scope': operation.scope,
  };
}

/**
 * The alias is permanent, so it is not `deprecated`, but a generated client needs no second function for
 * it. Generators use different extensions to skip it: openapi-generator and Redocly's remove-x-internal
 * use x-internal, Fern and AutoSDK x-fern-ignore, Speakeasy x-speakeasy-ignore.
 */
function asAlias(described: OperationObject, path: string): AliasObject {
  return {
    ...described,
    // Required by linters, and unique.
    operationId: `${described.operationId}Alias`,
    summary: `${described.summary} (alias)`,
    description: `The same as \`${path}\`, permanently. New clients should use that path.\n\n${described.description}`,
    'x-alias-of': path,
    'x-internal': true,
    'x-fern-ignore': true,
    'x-speakeasy-ignore': true,
  };
}

/** Operations are grouped by the scope that they need. */
function tagOf(scope: Scope): string {
  return capitalised(scope.replace('read:', ''));
}

function parametersOf({ input, pathParameter, ...operation }: Operation): ParameterObject[] {
  const { properties = {}, required = [] } = toJsonSchema(input, 'input');
  return Object.entries(properties).map(([name, { description = '', ...schema }]) => {
    const isInPath = name === pathParameter?.input;
    const example = operation.example.input[name];
    return {
      name: isInPath ? pathParameter.name : name,
      in: isInPath ? 'path' : 'query',
      required: required.includes(name),
      description,
      schema: forClients(schema, 'input', name) as JsonSchema,
      ...(example !== undefined && { example }),
    };
  });
}

function success({ title, output, example }: Operation): ResponseObject {
  return {
    description: `${title}.`,
    headers: headersNamed(['RateLimit-Policy', 'RateLimit']),
    content: {
      'application/json': {
        schema: publish(output).schema,
        examples: { example: { value: example.output } },
      },
    },
  };
}

/** One response per status, shared by all refusals with that status. */
function refusalResponses(operation: Operation): Record<string, ResponseObject> {
  const byStatus = Object.groupBy(refusalsOf(operation), (kind) => refusals[kind].status);
  return Object.fromEntries(
    Object.entries(byStatus).map(([status, kinds = []]): [string, ResponseObject] => {
      const messages = Object.assign({}, ...kinds.map((kind) => messagesOf(kind, operation)));
      return [
        status,
        {
          description: kinds.map((kind) => refusals[kind].when).join(' '),
          headers: headersNamed([...new Set(kinds.flatMap((kind) => refusals[kind].headers))]),
          content: {
            'application/json': {
              schema: { $ref: '#/components/schemas/ErrorEnvelope' },
              examples: Object.fromEntries(
                Object.entries(messages).map(([name, message]) => [
                  name,
                  { value: { success: false, message } },
                ]),
              ),
            },
          },
        },
      ];
    }),
  );
}

function headersNamed(names: readonly string[]): Record<string, { $ref: string }> {
  return Object.fromEntries(
    ['X-Request-Id', ...names].map((name) => [name, { $ref: `#/components/headers/${name}` }]),
  );
}

const headers: Readonly<Record<string, HeaderObject>> = {
  'X-Request-Id': {
    description: 'Names this request; quote it when you ask for help.',
    required: true,
    schema: { type: 'string', format: 'uuid' },
    example: '5f0c7a0e-6d0b-4f0e-9a55-0d6f4c1a7b32',
  },
  'WWW-Authenticate': {
    description: 'How to authenticate.',
    required: true,
    schema: { type: 'string', const: 'Bearer' },
    example: 'Bearer',
  },
  Allow: {
    description: 'The methods that the path has.',
    required: true,
    schema: { type: 'string', const: 'GET, HEAD' },
    example: 'GET, HEAD',
  },
  'Retry-After': {
    description: 'Whole seconds to wait before the next request.',
    required: true,
    schema: { type: 'integer', minimum: 1 },
    example: 12,
  },
  'RateLimit-Policy': {
    description: 'For limited keys: q requests are let through in any w seconds.',
    required: false,
    schema: { type: 'string' },
    example: `"default";q=${tiers.growth.limitPerMinute};w=60`,
  },
  RateLimit: {
    description: 'For limited keys: r requests are left now; more become free in t seconds.',
    required: false,
    schema: { type: 'string' },
    example: '"default";r=42;t=12',
  },
};

const errorEnvelope: JsonSchema = {
  type: 'object',
  description: 'The body of every answer that is not 2xx.',
  properties: {
    success: { type: 'boolean', const: false, description: 'Tells it from a success.' },
    message: { type: 'string', description: 'For people: what was wrong, and what to do.' },
  },
  required: ['success', 'message'],
};

/** The $ref to an output's schema, and the named schemas that it uses. */
function publish(output: Operation['output']): {
  schema: JsonSchema;
  components: Record<string, JsonSchema>;
} {
  const { $defs = {}, ...schema } = toJsonSchema(output, 'output');
  const named = Object.entries($defs as Record<string, unknown>);
  return {
    schema: forClients(schema, 'output') as JsonSchema,
    components: Object.fromEntries(
      named.map(([name, definition]) => [name, forClients(definition, 'output') as JsonSchema]),
    ),
  };
}

/**
 * Adapts a schema for clients: objects may gain fields, $refs point to components, and ids are int64.
 * @param name of the property or parameter that the node describes
 */
function forClients(node: unknown, side: 'input' | 'output', name = ''): unknown {
  if (Array.isArray(node)) return node.map((each) => forClients(each, side));
  if (typeof node !== 'object' || node === null) return node;
  const entries = Object.entries(node)
    .filter(([key, value]) => !(key === 'additionalProperties' && value === false))
    .map(([key, value]) =>
      key === '$ref' && typeof value === 'string'
        ? [key, value.replace('#/$defs/', '#/components/schemas/')]
        : [key, forClients(value, side, key)],
    );
  const isId = 'type' in node && node.type === 'integer' && /(^i|I)d$/.test(name);
  if (!isId) return Object.fromEntries(entries);
  // Requests may contain a greater id, although no record has one.
  const bound = side === 'output' ? [['maximum', Number.MAX_SAFE_INTEGER]] : [];
  return Object.fromEntries([...entries, ...bound, ['format', 'int64']]);
}

function camelCase(tool: string): string {
  return tool.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
