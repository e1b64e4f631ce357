/** A schema of the OpenAPI document, as far as the catalogue uses JSON Schema. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly enum?: readonly string[];
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly description?: string;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required: boolean;
  readonly description: string;
  readonly schema: Schema;
}

/** The OpenAPI document, as far as clients are generated from it. */
export interface Contract {
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
  readonly paths: Readonly<
    Record<
      string,
      {
        readonly get: {
          readonly operationId: string;
          readonly 'x-internal'?: true;
          readonly parameters?: readonly Parameter[];
          readonly responses: Readonly<
            Record<string, { readonly content?: Record<string, { readonly schema: Schema }> }>
          >;
        };
      }
    >
  >;
}

/** What each operation with a query takes, as the schema of an object. */
export function listQueries({ paths }: Contract): { name: string; schema: Schema }[] {
  return Object.values(paths).flatMap(({ get }) => {
    const listed = (get.parameters ?? []).filter((each) => each.in === 'query');
    // Clients need no second function for an alias.
    if (listed.length === 0 || get['x-internal']) return [];
    return {
      name: get.operationId,
      schema: {
        description: `What \`${get.operationId}\` asks for.`,
        properties: Object.fromEntries(
          listed.map(({ name, description, schema }) => [name, { ...schema, description }]),
        ),
        required: listed.filter((each) => each.required).map((each) => each.name),
      },
    };
  });
}
