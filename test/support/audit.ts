import type { Sql } from '../../src/store/database.ts';
import { listChain } from '../../src/store/owners/audit.ts';

/** What the audit log has of a shop, oldest first; 0 for the installation. @param prefix of the acts */
export async function auditOf(sql: Sql, shopId: number, prefix = '') {
  const entries = await listChain(sql, shopId, 0, 1000);
  return entries.filter(({ what }) => what.startsWith(prefix));
}
