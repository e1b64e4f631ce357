/** A node of a query plan in PostgreSQL's JSON format. */
export interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Index Cond'?: string;
  readonly 'Recheck Cond'?: string;
  readonly Filter?: string;
  readonly Plans?: readonly PlanNode[];
}

/** Tables without shops' data. */
const tablesWithoutShop = /^(?:shops|schema_migrations|key_generation|pg_\w+)$/;

/**
 * The scans of a plan that may return rows of any shop, because their shop_id does not equal a given value. To
 * be equal to the shop_id of a table that is restricted in that way is not enough: a cluster then asks all of
 * its nodes.
 */
export function scansAcrossShops(plan: PlanNode): PlanNode[] {
  return nodesOf(plan).filter(
    (node) =>
      isScan(node) &&
      node['Relation Name'] !== undefined &&
      !tablesWithoutShop.test(node['Relation Name']) &&
      !isOfOneShop(node),
  );
}

const isScan = (node: PlanNode) => node['Node Type'].endsWith('Scan');

function nodesOf(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)];
}

/** Foreign keys compare in the other direction. */
function isOfOneShop(scan: PlanNode): boolean {
  const conditions = [scan['Index Cond'], scan['Recheck Cond'], scan.Filter].join(' ');
  return /\bshop_id = (?:\$\d|'\d+'::bigint|ANY \((?:\$\d|'\{|ARRAY\[))|\$\d+ = shop_id\b/.test(
    conditions,
  );
}
