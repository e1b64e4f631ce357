import type { JsonSchema } from '../operations/json-schema.ts';

/** The subset of OpenAPI 3.1 that the catalogue uses; the reference is rendered from nothing else. */
export interface OpenApiDocument {
  readonly openapi: string;
  readonly info: {
    readonly title: string;
    readonly version: string;
    readonly summary: string;
    readonly description: string;
    readonly contact: { readonly name: string; readonly url: string };
    readonly license: { readonly name: string; readonly identifier: string };
  };
  readonly servers: readonly [{ readonly url: string }];
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, { readonly get: OperationObject | AliasObject }>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, JsonSchema>>;
    readonly headers: Readonly<Record<string, HeaderObject>>;
    readonly securitySchemes: Readonly<Record<string, Readonly<Record<string, string>>>>;
  };
}

export interface OperationObject {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly parameters: readonly ParameterObject[];
  /** By status. */
  readonly responses: Readonly<Record<string, ResponseObject>>;
  readonly 'x-required-scope': string;
}

/** Another path of an operation. */
export interface AliasObject extends OperationObject {
  /** The operation's main path. */
  readonly 'x-alias-of': string;
  readonly 'x-internal': true;
  readonly 'x-fern-ignore': true;
  readonly 'x-speakeasy-ignore': true;
}

export interface ParameterObject {
  readonly name: string;
  readonly in: 'path' | 'query';
  readonly required: boolean;
  readonly description: string;
  readonly schema: JsonSchema;
  readonly example?: unknown;
}

export interface ResponseObject {
  readonly description: string;
  readonly headers: Readonly<Record<string, { readonly $ref: string }>>;
  readonly content: {
    readonly 'application/json': {
      readonly schema: JsonSchema;
      readonly examples: Readonly<Record<string, { readonly value: unknown }>>;
    };
  };
}

export interface HeaderObject {
  readonly description: string;
  readonly required: boolean;
  readonly schema: JsonSchema;
  readonly example: unknown;
}
