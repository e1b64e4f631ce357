import { isObject } from '../../../../src/json.ts';
import { type Root, executeDocument } from './execution.ts';

type Node = Record<string, unknown>;

interface Family {
  readonly line: Node;
  readonly children: readonly Family[];
}

/**
 * The lines of a bulk query's result: each node of a connection, without its connections and with
 * its parent's id. Flat, all parents are first; grouped, children follow their parent.
 */
export function bulkLines(root: Root, text: string, isGrouped = false): string[] {
  const { data, errors } = executeDocument(text, { root });
  if (errors) throw new Error(errors.map(({ message }) => message).join('; '));
  const families = familiesIn(data as Node, undefined);
  const lines = isGrouped ? groupedLines(families) : flatLines(families);
  return lines.map((line) => JSON.stringify(line));
}

const groupedLines = (families: readonly Family[]): Node[] =>
  families.flatMap(({ line, children }) => [line, ...groupedLines(children)]);

function flatLines(families: readonly Family[]): Node[] {
  if (families.length === 0) return [];
  const children = families.flatMap((family) => family.children);
  return [...families.map(({ line }) => line), ...flatLines(children)];
}

/** The nodes of a value's connections. */
function familiesIn(value: Node, parentId: unknown): Family[] {
  return Object.values(value).flatMap((field) => {
    if (!isObject(field)) return [];
    const { edges } = field;
    if (!Array.isArray(edges)) return familiesIn(field, field['id'] ?? parentId);
    return edges.map(({ node }: { node: Node }) => ({
      line: {
        ...withoutConnections(node),
        ...(parentId !== undefined && { __parentId: parentId }),
      },
      children: familiesIn(node, node['id']),
    }));
  });
}

function withoutConnections(value: Node): Node {
  const fields = Object.entries(value).filter(
    ([, field]) => !(isObject(field) && Array.isArray(field['edges'])),
  );
  return Object.fromEntries(
    fields.map(([name, field]) => [name, isObject(field) ? withoutConnections(field) : field]),
  );
}
