import {
  type DocumentNode,
  type ExecutionResult,
  type GraphQLFieldResolver,
  type GraphQLTypeResolver,
  GraphQLError,
  GraphQLScalarType,
  executeSync,
  parse,
  validate,
} from 'graphql';
import { parseGid } from '../../../../src/platforms/shopify/api/ids.ts';
import { apiVersion } from '../../../../src/platforms/shopify/api/version.ts';
import { isConnection } from './bulk-limits.ts';
import { readSchema } from './schema.ts';

type Value = Readonly<Record<string, unknown>>;

/** The fields of a root: functions take the arguments and return a value, a list for a connection. */
export type Root = Readonly<Record<string, (args: Record<string, unknown>) => unknown>>;

export interface Execution {
  readonly root: Root;
  readonly variables?: Readonly<Record<string, unknown>>;
  /** The largest page of the connection in this field. Without it nothing is paged: a bulk query. */
  readonly maxPageSize?: (field: string) => number;
}

/** The pinned version of the Admin API. */
export const schema = readSchema(apiVersion);

const formats: Readonly<Record<string, RegExp>> = {
  DateTime: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/,
  Decimal: /^-?\d+(?:\.\d+)?$/,
  UnsignedInt64: /^\d+$/,
  URL: /^https?:\/\//,
};

for (const [name, format] of Object.entries(formats)) {
  const scalar = schema.getType(name);
  if (!(scalar instanceof GraphQLScalarType)) continue;
  scalar.serialize = (value) => {
    if (typeof value === 'string' && format.test(value)) return value;
    throw new GraphQLError(`${JSON.stringify(value)} is no ${name} as Shopify writes it`);
  };
}

const parsed = new Map<string, DocumentNode | readonly GraphQLError[]>();

function parseOnce(text: string): DocumentNode | readonly GraphQLError[] {
  let document = parsed.get(text);
  if (!document) {
    const candidate = parse(text);
    const errors = validate(schema, candidate);
    document = errors.length > 0 ? errors : candidate;
    parsed.set(text, document);
  }
  return document;
}

/** Executes a document against the published schema. A value that the schema excludes is an error. */
export function executeDocument(
  text: string,
  { root, variables = {}, maxPageSize }: Execution,
): ExecutionResult {
  const document = parseOnce(text);
  if (!('kind' in document)) return { errors: document };
  return executeSync({
    schema,
    document,
    rootValue: root,
    contextValue: maxPageSize,
    variableValues: variables,
    fieldResolver: resolveField,
    typeResolver: resolveType,
  });
}

const resolveField: GraphQLFieldResolver<Value, Execution['maxPageSize']> = (
  source,
  args,
  maxPageSize,
  { fieldName, returnType },
) => {
  const value = source[fieldName];
  const result: unknown = typeof value === 'function' ? value(args) : value;
  if (!isConnection(returnType)) return result;
  return pageOf((result ?? []) as unknown[], args, maxPageSize?.(fieldName));
};

/** Cursors are offsets, as text. */
function pageOf(
  all: readonly unknown[],
  { first, after }: { readonly first?: number; readonly after?: string | null },
  maxSize: number | undefined,
) {
  if (maxSize !== undefined && !(first !== undefined && first >= 1 && first <= 250)) {
    throw new GraphQLError('A connection needs "first", from 1 to 250');
  }
  const begin = Number(after ?? 0);
  const nodes = all.slice(begin, begin + Math.min(first ?? Infinity, maxSize ?? Infinity));
  const end = begin + nodes.length;
  return {
    nodes,
    edges: nodes.map((node, index) => ({ node, cursor: String(begin + index + 1) })),
    pageInfo: {
      hasNextPage: end < all.length,
      hasPreviousPage: begin > 0,
      startCursor: nodes.length > 0 ? String(begin + 1) : null,
      endCursor: nodes.length > 0 ? String(end) : null,
    },
  };
}

/** What tells the members of a union apart in values that name no type. */
const typesByShape: Readonly<Record<string, (value: Value) => string>> = {
  SellingPlanBillingPolicy: (value) => `SellingPlan${occurrence(value, 'interval')}BillingPolicy`,
  SellingPlanDeliveryPolicy: (value) => `SellingPlan${occurrence(value, 'interval')}DeliveryPolicy`,
  SellingPlanPricingPolicy: (value) => `SellingPlan${occurrence(value, 'afterCycle')}PricingPolicy`,
  SellingPlanPricingPolicyAdjustmentValue: (value) =>
    'percentage' in value ? 'SellingPlanPricingPolicyPercentageValue' : 'MoneyV2',
};

const occurrence = (value: Value, recurringField: string) =>
  recurringField in value ? 'Recurring' : 'Fixed';

const resolveType: GraphQLTypeResolver<Value, unknown> = (value, _context, _info, abstractType) =>
  (value['__typename'] as string | undefined) ??
  typesByShape[abstractType.name]?.(value) ??
  parseGid(value['id'])?.type;
