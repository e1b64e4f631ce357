import { tiers } from '../access/tiers.ts';
import type { Operation } from '../operations/define.ts';
import { operations } from '../operations/index.ts';
import { restAliases, restBasePath } from '../operations/rest-path.ts';
import type {
  HeaderObject,
  OpenApiDocument,
  OperationObject,
  ParameterObject,
  ResponseObject,
} from './document.ts';
import { examples } from './examples.ts';
import { introduction, toMarkdown } from './introduction.ts';
import { type JsonSchema, toJsonSchema } from './json-schema.ts';
import { messagesOf, refusals, refusalsOf } from './refusals.ts';

const scheme = 'apiKey';

/**
 * The contract of the REST API for machines, from the catalogue.
 * @param options.serverUrl the public address of the service, without a slash at the end
 */
export function buildOpenApi({ serverUrl }: { serverUrl: string }): OpenApiDocument {
  return {
    openapi: '3.1.1',
    info: {
      title: 'Retention Data API',
      version: '1.0.0',
      summary: "Read a shop's subscription retention data.",
      description: toMarkdown(introduction(serverUrl)),
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: serverUrl }],
    security: [{ [scheme]: [] }],
    paths: Object.fromEntries(
      operations.flatMap((operation) => {
        const path = restBasePath + operation.path;
        const described = describe(operation);
        const alias = restAliases[operation.path];
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
    summary: operation.title,
    description: `${operation.description}\n\nNeeds the scope \`${operation.scope}\`.`,
    parameters: parametersOf(operation),
    responses: { '200': success(operation), ...refusalResponses(operation) },
    // The list names what the key must hold, as OpenAPI 3.1 allows for every kind of scheme.
    security: [{ [scheme]: [operation.scope] }],
    'x-required-scope': operation.scope,
  };
}

function asAlias(described: OperationObject, path: string): OperationObject {
  return {
    ...described,
    operationId: `${described.operationId}Alias`,
    summary: `${described.summary} (alias)`,
    description: `The same as \`${path}\`, permanently.\n\n${described.description}`,
    'x-alias-of': path,
  };
}

function parametersOf({ tool, input, pathParameter }: Operation): ParameterObject[] {
  const { properties = {}, required = [] } = toJsonSchema(input, 'input');
  return Object.entries(properties).map(([name, { description = '', ...schema }]) => {
    const isInPath = name === pathParameter?.input;
    const example = examples[tool]?.input[name];
    return {
      name: isInPath ? pathParameter.name : name,
      in: isInPath ? 'path' : 'query',
      required: required.includes(name),
      description,
      schema: forClients(schema) as JsonSchema,
      ...(example !== undefined && { example }),
    };
  });
}

function success({ tool, title, output }: Operation): ResponseObject {
  return {
    description: `${title}.`,
    headers: headersNamed(['RateLimit-Policy', 'RateLimit']),
    content: {
      'application/json': {
        schema: publish(output).schema,
        examples: { example: { value: examples[tool]?.output } },
      },
    },
  };
}

/** One response per status; kinds of refusal that share a status share it. */
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
  'Retry-After': {
    description: 'Whole seconds until a request is let through again.',
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
    success: { type: 'boolean', const: false },
    message: { type: 'string', description: 'For people: what was wrong, and what to do.' },
  },
  required: ['success', 'message'],
};

/** An output's schema as clients should see it, and the named shapes that it refers to. */
function publish(output: Operation['output']): {
  schema: JsonSchema;
  components: Record<string, JsonSchema>;
} {
  const { $defs = {}, ...schema } = toJsonSchema(output, 'output');
  const named = Object.entries($defs as Record<string, unknown>);
  return {
    schema: forClients(schema) as JsonSchema,
    components: Object.fromEntries(
      named.map(([name, definition]) => [name, forClients(definition) as JsonSchema]),
    ),
  };
}

/** Opens objects, since fields may be added; points to components; keeps ids out of 32 bits. */
function forClients(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(forClients);
  if (typeof node !== 'object' || node === null) return node;
  const entries = Object.entries(node)
    .filter(([key, value]) => !(key === 'additionalProperties' && value === false))
    .map(([key, value]) =>
      key === '$ref' && typeof value === 'string'
        ? [key, value.replace('#/$defs/', '#/components/schemas/')]
        : [key, forClients(value)],
    );
  const isWide = 'type' in node && node.type === 'integer' && !('maximum' in node);
  return Object.fromEntries(isWide ? [...entries, ['format', 'int64']] : entries);
}

function camelCase(tool: string): string {
  return tool.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}
