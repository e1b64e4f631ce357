import type { Sql } from '../../src/store/database.ts';
import type { Store } from '../../src/store/open.ts';
import { listChain } from '../../src/store/owners/audit.ts';
import { findOwnerByEmail } from '../../src/store/owners/owners.ts';

/** What the audit log has of a shop, oldest first; 0 for the installation. @param prefix of the acts */
export async function auditOf(sql: Sql, shopId: number, prefix = '') {
  const entries = await listChain(sql, shopId, 0, 1000);
  return entries.filter(({ what }) => what.startsWith(prefix));
}

/** How entries name the person with an address. */
export const whoIs = async ({ write }: Store, email: string): Promise<string> =>
  `owner ${(await findOwnerByEmail(write, email))?.ownerId}`;
