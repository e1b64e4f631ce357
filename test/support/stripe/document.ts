/** What the stand-in knows of JSON Schema, in OpenAPI's dialect. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: 'string' | 'number' | 'boolean' | 'object' | 'array';
  readonly format?: 'decimal';
  readonly nullable?: true;
  readonly enum?: readonly (string | boolean)[];
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema;
  /** An id, or one of these where it is expanded. */
  readonly 'x-expansionResources'?: { readonly oneOf: readonly Schema[] };
  /** Properties that are there only where they are expanded. */
  readonly 'x-includable'?: readonly string[];
  /** The name of a type whose form is not described. */
  readonly 'x-leftOut'?: string;
}

export interface Endpoint {
  readonly parameters: Schema;
  readonly answer: Schema;
}

export interface StripeDocument {
  readonly openapi: string;
  readonly info: {
    readonly title: string;
    readonly version: string;
    readonly 'x-source': string;
    /** Those that requests may name. */
    readonly 'x-versions': readonly string[];
  };
  readonly paths: Readonly<Record<string, Endpoint>>;
  readonly components: { readonly schemas: Record<string, Schema> };
}
