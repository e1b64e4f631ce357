/** A node of a query plan in PostgreSQL's JSON format. */
export interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly Alias?: string;
  readonly 'Index Name'?: string;
  readonly 'Index Cond'?: string;
  readonly 'Recheck Cond'?: string;
  readonly Filter?: string;
  readonly 'Hash Cond'?: string;
  readonly 'Merge Cond'?: string;
  readonly 'Join Filter'?: string;
  readonly Plans?: readonly PlanNode[];
}

/** What a shop_id must equal: a value, or the shop_id of another part of the plan. */
interface Equality {
  readonly alias: string;
  /** Undefined for a value or a list of values. */
  readonly other: string | undefined;
}

/** Tables without shops' data. */
const tablesWithoutShop = /^(?:shops|schema_migrations|pg_\w+)$/;

/**
 * The scans of a plan that may return rows of any shop: their shop_id does not equal a given value, nor,
 * through any number of steps, the shop_id of something that is restricted in that way.
 */
export function scansAcrossShops(plan: PlanNode): PlanNode[] {
  const nodes = nodesOf(plan);
  const scans = nodes.filter((node) => isScan(node) && node['Relation Name'] !== undefined);
  const equalities = nodes.flatMap(equalitiesOf);
  // Rows of anything but tables (lists, functions, subqueries) were restricted elsewhere.
  const limited = new Set(
    nodes.filter((node) => isScan(node) && !scans.includes(node)).map(({ Alias = '' }) => Alias),
  );
  for (let before = -1; before < limited.size;) {
    before = limited.size;
    for (const { alias, other } of equalities) {
      if (other === undefined || limited.has(other)) limited.add(alias);
      else if (limited.has(alias)) limited.add(other);
    }
  }
  return scans.filter(
    ({ 'Relation Name': table = '', Alias = '' }) =>
      !tablesWithoutShop.test(table) && !limited.has(Alias),
  );
}

const isScan = (node: PlanNode) => node['Node Type'].endsWith('Scan');

function nodesOf(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)];
}

/** In a scan, an unqualified column belongs to the scanned table. */
function equalitiesOf(node: PlanNode): Equality[] {
  const conditions = [
    node['Index Cond'],
    node['Recheck Cond'],
    node.Filter,
    node['Hash Cond'],
    node['Merge Cond'],
    node['Join Filter'],
  ].join(' ');
  // Foreign keys compare in the other direction.
  const found = conditions
    .replace(/(\$\d+) = shop_id\b/g, 'shop_id = $1')
    .matchAll(
      /(?:(\w+)\.)?\bshop_id = (?:(\w+)\.shop_id\b|\$\d|'\d+'::bigint|ANY \((?:\$\d|'\{|ARRAY\[))/g,
    );
  return [...found].map(([, alias = node.Alias ?? '', other]) => ({ alias, other }));
}
