import {
  type GraphQLOutputType,
  type GraphQLSchema,
  TypeInfo,
  getNamedType,
  parse,
  visit,
  visitWithTypeInfo,
} from 'graphql';

const maxConnections = 5;
const maxDepth = 2;

/**
 * What Shopify would refuse about a bulk query; undefined if it is within the limits.
 * https://shopify.dev/docs/api/usage/bulk-operations/queries
 */
export function bulkProblem(schema: GraphQLSchema, text: string): string | undefined {
  const info = new TypeInfo(schema);
  const roots: string[] = [];
  let connections = 0;
  let depth = 0;
  let deepest = 0;
  const isInConnection = () => isConnection(info.getType());
  visit(
    parse(text),
    visitWithTypeInfo(info, {
      Field: {
        enter(node) {
          if (info.getParentType() === schema.getQueryType()) roots.push(node.name.value);
          if (!isInConnection()) return;
          connections += 1;
          depth += 1;
          deepest = Math.max(deepest, depth);
        },
        leave() {
          if (isInConnection()) depth -= 1;
        },
      },
    }),
  );
  if (roots.length !== 1) return 'A bulk query has one top-level field';
  if (roots[0] === 'node' || roots[0] === 'nodes') return 'A bulk query cannot begin with a node';
  if (connections === 0) return 'A bulk query has at least one connection';
  if (connections > maxConnections) return 'A bulk query has at most five connections';
  return deepest > maxDepth ? 'Connections are nested at most two levels deep' : undefined;
}

export function isConnection(type: GraphQLOutputType | null | undefined): boolean {
  return getNamedType(type)?.name.endsWith('Connection') ?? false;
}
